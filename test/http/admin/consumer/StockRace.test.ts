/** Many simultaneous orders for few units, on two servers over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect } from "effect"
import * as Server from "../../../../src/http/server/Server.ts"
import { type Answer, asServer, send, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"

describe("Simultaneous orders", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("get exactly the available units: ten of fifty, on two servers", () =>
      Effect.gen(function* () {
        const { adminUrl, brand } = yield* Usher
        const other = Context.get(yield* Fixture.anotherServer, Server.Listeners).adminUrl
        const call = (method: string, path: string, body?: object, url = adminUrl): Effect.Effect<Answer> =>
          send(url, { method, path: `/api${path}`, headers: asServer(brand.secretKey), body })
        const consumers = yield* Effect.forEach(Array.from({ length: 50 }), () => call("POST", "/consumers", {}), {
          concurrency: 10
        })
        const variant = (inventoryQuantity: number, inventoryPolicy = "deny") => ({
          inventoryPolicy,
          inventoryQuantity
        })
        const variants = [variant(10), variant(1_000, "continue")]
        const [shoe, hat] = (yield* call("POST", "/products", { name: "Sneaker", variants })).body.variants
        // The items come in either order, so that two orders name the same two variants in opposite orders.
        const sold = [shoe.id, hat.id].map((productVariantId) => ({ productVariantId, quantity: 1, unitPrice: "1" }))
        const answers = yield* Effect.forEach(
          consumers,
          ({ body: { id: consumerId } }, index) => {
            const items = index % 3 === 0 ? sold.toReversed() : sold
            return call("POST", "/orders", { consumerId, items }, index % 2 === 0 ? adminUrl : other)
          },
          { concurrency: "unbounded" }
        )
        const statuses = answers.map(({ status }) => status)
        assert.deepStrictEqual(
          [statuses.filter((s) => s === 201).length, statuses.filter((s) => s === 409).length],
          [10, 40]
        )
        for (const { status, body } of answers) {
          if (status !== 201)
            assert.deepInclude(body, { code: "OUT_OF_STOCK", productVariantId: shoe.id, available: 0 })
        }
        const left = yield* Effect.forEach([shoe, hat], ({ id }) => call("GET", `/variants/${id}`))
        assert.deepStrictEqual(
          left.map(({ body }) => body.inventoryQuantity),
          [0, 990]
        )

        const orders = answers.filter(({ status }) => status === 201).map(({ body }) => body.id)
        const cancelled = yield* Effect.forEach(
          [...orders, ...orders],
          (id, index) => call("PUT", `/orders/${id}`, { status: "CANCELLED" }, index % 2 === 0 ? adminUrl : other),
          { concurrency: "unbounded" }
        )
        for (const { status } of cancelled) assert.strictEqual(status, 200)
        assert.strictEqual((yield* call("GET", `/variants/${shoe.id}`)).body.inventoryQuantity, 10)
      })
    )
  })
})
