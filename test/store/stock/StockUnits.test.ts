import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { creationOf } from "../../../src/engine/lifecycle/Creation.ts"
import { Orders } from "../../../src/store/consumer/Orders.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { Stocks } from "../../../src/store/stock/Stocks.ts"
import { aConsumer, aTenant, layer as records } from "../support/recordsFixture.ts"
import { aProduct, aVariant } from "../catalogue/catalogueFixture.ts"

describe("The units of an order", () => {
  layer(Layer.provideMerge(Stocks.layer, records), { excludeTestServices: true })((it) => {
    it.effect("are not counted at a variant that gets a stock at the same time", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const journal = yield* Journal
        const stocks = yield* Stocks
        const orders = yield* Orders
        const tenant = yield* aTenant()
        const consumerId = yield* aConsumer(tenant)
        const productId = yield* aProduct(tenant)
        const variantId = yield* aVariant(tenant, productId, { inventoryPolicy: "deny", inventoryQuantity: 10 })
        const inventory = Effect.map(
          sql<{ readonly units: number }>`
            select (record ->> 'inventoryQuantity')::int as units from product_variants where id = ${variantId}`,
          ([row]) => row!.units
        )
        const mayEnd = yield* Deferred.make<void>()
        const hasBegun = yield* Deferred.make<void>()
        const id = randomUUID()
        const create = (units: number) =>
          Effect.gen(function* () {
            const identity = { ...tenant, id, kind: "stock", experienceId: undefined, sequenceId: undefined } as const
            const configuration = { name: "Pairs", variantIds: [variantId], takers: [], returnsCancelled: true }
            yield* journal.create([creationOf(identity, configuration, "test", Date.now())])
            yield* Deferred.succeed(hasBegun, undefined)
            yield* Deferred.await(mayEnd)
            return units
          })
        const creating = yield* Effect.forkChild(stocks.createOf(tenant, id, [variantId], create))
        yield* Deferred.await(hasBegun)
        const { origin } = yield* orders.originOf(tenant, { consumerId })
        const items = [{ productVariantId: variantId, quantity: 1, unitPrice: "9" }]
        const settings = { status: "PAID", currencyCode: "EUR", items, placedAt: 1_000 } as const
        const ordering = yield* Effect.forkChild(Effect.exit(orders.create(tenant, "test", origin, settings)))
        const waiting = sql`
          select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        yield* waiting.pipe(
          Effect.flatMap((rows) => (rows.length > 0 ? Effect.void : Effect.fail("not yet"))),
          Effect.retry(Schedule.spaced(20)),
          Effect.timeout("2 minutes")
        )
        yield* Deferred.succeed(mayEnd, undefined)
        assert.strictEqual(yield* Fiber.join(creating), 10)
        assert.strictEqual((yield* Fiber.join(ordering))._tag, "Failure")
        assert.strictEqual(yield* inventory, 10)
        assert.isEmpty((yield* orders.list(tenant, {}, {})).data)
      })
    )
  })
})
