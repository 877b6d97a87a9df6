/** The products of an experience, and the access code that protects it, as consumers see them over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../../../../src/domain/values/Ids.ts"
import { aProduct, aVariant } from "../../../store/catalogue/catalogueFixture.ts"
import { eventually } from "../../admin/adminFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { Usher } from "../../support/usherFixture.ts"
import { admin, anExperience, aSequence, inExperience } from "./experienceFixture.ts"
import { inQueue } from "../queue/queueFixture.ts"

const theTenant = Effect.map(Usher, ({ brand }): Tenant => ({ organizationId: brand.organizationId, mode: "live" }))

const namesIn = (experience: { readonly sequences: ReadonlyArray<{ readonly name: string }> }) =>
  experience.sequences.map(({ name }) => name)

describe("The offer of an experience on the Consumer API", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("is the same as on the Admin API, for anonymous callers and for a consumer that enters", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const tenant = yield* theTenant
        const product = yield* aProduct(tenant, { description: "Fast" })
        const variant = yield* aVariant(tenant, product, { price: "49.90" }, { sku: "S" })
        const experienceId = yield* anExperience({ products: [{ productId: product, productVariantId: variant }] })
        const { get, enter } = yield* inExperience(experienceId)
        const { products } = (yield* get).body
        assert.deepStrictEqual(products, (yield* admin("GET", `/experiences/${experienceId}`)).products)
        assert.deepInclude(products[0], { experienceId, productId: product, productVariantId: variant, position: 0 })
        assert.deepInclude(products[0].product, { id: product, name: "Sneaker", description: "Fast" })
        assert.deepInclude(products[0].productVariant, { id: variant, sku: "S", price: "49.90" })
        assert.notProperty(products[0].productVariant, "options")
        assert.deepStrictEqual((yield* enter(yield* guest())).body.experience.products, products)
      })
    )

    it.effect("is shown again after experience and product were archived and restored, in either sequence", () =>
      Effect.gen(function* () {
        const { id: productId } = yield* admin("POST", "/products", { name: "Sneaker", variants: [{ sku: "S" }] })
        const experienceId = yield* anExperience({ products: [{ productId }] })
        const { get } = yield* inExperience(experienceId)
        const shown = Effect.map(get, ({ status, body }) =>
          status === 200 ? body.products.map(({ product }: any) => product.variants.length) : status
        )
        const becomes = (expected: unknown) =>
          Effect.map(
            eventually(shown, (found) => JSON.stringify(found) === JSON.stringify(expected)),
            (found) => assert.deepStrictEqual(found, expected)
          )
        yield* becomes([1])
        yield* admin("DELETE", `/experiences/${experienceId}`)
        const { variants } = yield* admin("DELETE", `/products/${productId}`)
        yield* becomes(404)
        yield* admin("POST", `/experiences/${experienceId}/restore`)
        yield* becomes([])
        yield* admin("POST", `/products/${productId}/restore`)
        yield* becomes([0])
        yield* admin("POST", `/variants/${variants[0].id}/restore`)
        yield* becomes([1])
      })
    )

    it.effect("changes with the experience and with the catalogue", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* theTenant
        const [one, other] = [yield* aProduct(tenant), yield* aProduct(tenant)]
        const experienceId = yield* anExperience({ products: [{ productId: one }] })
        const { get } = yield* inExperience(experienceId)
        const offered = Effect.map(get, ({ body }): ReadonlyArray<string> =>
          body.products.map(({ product }: { product: { id: string; name: string } }) => `${product.name} ${product.id}`)
        )
        const becomes = (expected: ReadonlyArray<string>) =>
          Effect.map(
            eventually(offered, (found) => `${found}` === `${expected}`),
            (found) => assert.deepStrictEqual(found, expected)
          )
        yield* becomes([`Sneaker ${one}`])
        yield* admin("PUT", `/experiences/${experienceId}`, { products: [{ productId: other }, { productId: one }] })
        yield* becomes([`Sneaker ${other}`, `Sneaker ${one}`])
        yield* sql`update products set name = 'Boot' where id = ${one}`
        yield* becomes([`Sneaker ${other}`, `Boot ${one}`])
        yield* sql`update products set archived = true where id = ${other}`
        yield* becomes([`Boot ${one}`])
      })
    )
  })
})

describe("An experience with an access code", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("admits a consumer that sends it, and shows the others that it is protected", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const [someone, other] = [yield* guest(), yield* guest()]
        const experienceId = yield* anExperience({ accessCode: "open sesame" })
        const sequenceId = yield* aSequence(experienceId, { name: "All" })
        yield* aSequence(experienceId, { name: "Inner", accessCode: "innermost" })
        const { id } = yield* admin("POST", "/queues", { sequenceId, name: "Line", admitRate: 0 })
        const queue = yield* inQueue(id)
        const { get, enter, leave } = yield* inExperience(experienceId)
        const anyone = (yield* get).body
        assert.deepStrictEqual([namesIn(anyone), anyone.hasProtectedSequences], [[], true])
        const barred = { error: "The experience needs its access code" }
        for (const [body, error] of [
          [undefined, barred],
          [{}, barred],
          [{ accessCode: "innermost" }, barred],
          [{ accessCode: "wrong" }, { error: "The access code opens nothing here" }]
        ] as const) {
          const answer = yield* enter(someone, body)
          assert.deepStrictEqual([answer.status, answer.body], [403, error])
        }
        assert.deepStrictEqual((yield* leave(someone)).body, { left: false })
        assert.strictEqual((yield* queue.enter(someone)).status, 403)
        const entered = yield* enter(someone, { accessCode: "open sesame" })
        assert.deepStrictEqual(namesIn(entered.body.experience), ["All", "Inner"])
        assert.notInclude(entered.text, "sesame")
        assert.strictEqual((yield* queue.enter(someone)).status, 200)
        // A consumer sends the code once. A consumer that has not sent it is refused as before.
        assert.deepStrictEqual((yield* enter(someone)).body, entered.body)
        assert.strictEqual((yield* enter(other)).status, 403)
        assert.strictEqual((yield* queue.enter(other)).status, 403)
      })
    )

    it.effect("closes at once when it gets a code, for all its sequences, and opens when the code is removed", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const experienceId = yield* anExperience()
        const lineIn = Effect.fnUntraced(function* () {
          const sequenceId = yield* aSequence(experienceId)
          const { id } = yield* admin("POST", "/queues", { sequenceId, name: "Line", admitRate: 0 })
          return yield* inQueue(id)
        })
        const early = yield* lineIn()
        assert.strictEqual((yield* early.enter(yield* guest())).status, 200)
        yield* admin("PUT", `/experiences/${experienceId}`, { accessCode: "opening" })
        assert.strictEqual((yield* early.enter(yield* guest())).status, 403)
        const late = yield* lineIn()
        assert.strictEqual((yield* late.enter(yield* guest())).status, 403)
        yield* admin("PUT", `/experiences/${experienceId}`, { name: "Renamed" })
        assert.strictEqual((yield* late.enter(yield* guest())).status, 403)
        yield* admin("PUT", `/experiences/${experienceId}`, { accessCode: null })
        for (const queue of [early, late]) assert.strictEqual((yield* queue.enter(yield* guest())).status, 200)
      })
    )

    it.effect("is closed from its creation on, with everything that is created with it", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { sequences, id } = yield* admin("POST", "/experiences", {
          name: "Drop",
          accessCode: "opening",
          sequences: [{ name: "S", queues: [{ name: "Line", admitRate: 0 }] }]
        })
        const queue = yield* inQueue(sequences[0].queues[0].id)
        const someone = yield* guest()
        assert.strictEqual((yield* queue.enter(someone)).status, 403)
        const copy = yield* admin("POST", `/experiences/${id}/duplicate`)
        const copied = yield* inQueue(copy.sequences[0].queues[0].id)
        const { enter } = yield* inExperience(copy.id)
        assert.strictEqual((yield* enter(someone, { accessCode: "opening" })).status, 403)
        assert.strictEqual((yield* copied.enter(someone)).status, 403)
        yield* admin("PUT", `/experiences/${copy.id}`, { accessCode: "newest" })
        assert.strictEqual((yield* enter(someone, { accessCode: "newest" })).status, 200)
        assert.strictEqual((yield* copied.enter(someone)).status, 200)
      })
    )
  })
})
