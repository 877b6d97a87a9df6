import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { creationOf } from "../../../src/engine/lifecycle/Creation.ts"
import { verify } from "../../../src/engine/verification/Verification.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { Projections } from "../../../src/store/journal/Projections.ts"
import { Mechanisms } from "../../../src/store/mechanism/Mechanisms.ts"
import { Stocks } from "../../../src/store/stock/Stocks.ts"
import { aProduct, aVariant } from "../catalogue/catalogueFixture.ts"
import { aQueue, aTenant, layer as records } from "../support/recordsFixture.ts"

const services = Layer.provideMerge(Layer.mergeAll(Projections.layer, Mechanisms.layer, Stocks.layer), records)

describe("A stock in Postgres", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("has a journal and a head, belongs to no experience, and is verified like a mechanism", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const tenant = yield* aTenant()
        const identity = {
          ...tenant,
          id: randomUUID(),
          kind: "stock",
          experienceId: undefined,
          sequenceId: undefined
        } as const
        const configuration = { name: "Stock", variantIds: [randomUUID()], takers: [], returnsCancelled: true }
        yield* journal.create([creationOf(identity, configuration, "test", Date.now())])
        const { id } = identity
        const { sequence = 0 } = (yield* journal.head(id)) ?? {}
        assert.isAbove(sequence, 0)
        assert.deepInclude(yield* journal.head(id), { identity })
        const verdict = yield* verify(id, () => Effect.void)
        assert.deepInclude(verdict, { kind: "stock", events: sequence, count: 0 })
      })
    )

    it.effect("is no mechanism of the API", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const mechanisms = yield* Mechanisms
        const tenant = yield* aTenant()
        const identity = { ...tenant, kind: "stock", experienceId: undefined, sequenceId: undefined } as const
        const id = randomUUID()
        const configuration = { name: "Stock", variantIds: [randomUUID()], takers: [], returnsCancelled: true }
        yield* journal.create([creationOf({ ...identity, id }, configuration, "test", Date.now())])
        assert.isUndefined(yield* mechanisms.find(tenant, id))
        assert.isEmpty((yield* mechanisms.listDistributions(tenant, {}, {})).data)
      })
    )

    it.effect("has its variants' units, which come back to the first one when it is released, once", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const stocks = yield* Stocks
        const sql = yield* SqlClient.SqlClient
        const [tenant, stranger] = [yield* aTenant(), yield* aTenant()]
        const productId = yield* aProduct(tenant)
        const variant = (inventoryQuantity: number) => aVariant(tenant, productId, { inventoryQuantity })
        const variantIds = [yield* variant(4), yield* variant(5), yield* variant(-1)]
        const quantities = Effect.map(
          sql<{ readonly id: string; readonly units: number }>`
            select id, (record ->> 'inventoryQuantity')::int as units from product_variants where product_id = ${productId}`,
          (rows) => variantIds.map((id) => rows.find((row) => row.id === id)!.units)
        )
        const createAs = (owner: Tenant) => {
          const id = randomUUID()
          const identity = { ...owner, id, kind: "stock", experienceId: undefined, sequenceId: undefined } as const
          const configuration = { name: "Stock", variantIds, takers: [], returnsCancelled: true }
          const create = (units: number) =>
            Effect.as(journal.create([creationOf(identity, configuration, "test", Date.now())]), { id, units })
          return stocks.createOf(owner, id, variantIds, create)
        }
        assert.strictEqual((yield* Effect.flip(createAs(stranger)))._tag, "UnknownMembers")
        const { id, units } = yield* createAs(tenant)
        assert.strictEqual(units, 9)
        assert.deepInclude(yield* Effect.flip(createAs(tenant)), { _tag: "VariantInStock", stockId: id })

        yield* stocks.show(stranger, id, 1)
        assert.deepStrictEqual(yield* quantities, [4, 5, -1])
        yield* stocks.show(tenant, id, 7)
        assert.deepStrictEqual(yield* quantities, [7, 7, 7])
        assert.isFalse(yield* stocks.hasMessages(tenant, id))
        yield* sql`
          insert into stock_messages (id, organization_id, mode, stock_id, units, due_at)
          values ('one', ${tenant.organizationId}, ${tenant.mode}, ${id}, 1, now())`
        assert.isTrue(yield* stocks.hasMessages(tenant, id))
        assert.isFalse(yield* stocks.hasMessages(stranger, id))

        yield* stocks.release(tenant, id, 6)
        assert.deepStrictEqual(yield* quantities, [6, 0, 0])
        yield* stocks.release(tenant, id, 6)
        yield* stocks.show(tenant, id, 9)
        assert.deepStrictEqual(yield* quantities, [6, 0, 0])
      })
    )

    it.effect("has only mechanisms of its tenant that sell as takers, and is in use until they are torn down", () =>
      Effect.gen(function* () {
        const stocks = yield* Stocks
        const [tenant, stranger] = [yield* aTenant(), yield* aTenant()]
        const stockId = randomUUID()
        const { id: queue } = yield* aQueue(tenant, { configuration: { stockId } })
        yield* stocks.refuseUnknownTakers(tenant, [queue])
        for (const [owner, id] of [
          [stranger, queue],
          [tenant, randomUUID()]
        ] as const) {
          const refused = yield* Effect.flip(stocks.refuseUnknownTakers(owner, [queue, id]))
          assert.deepInclude(refused, { _tag: "UnknownMembers", record: "Distribution" })
        }
        assert.deepInclude(yield* Effect.flip(stocks.refuseInUse(tenant, stockId)), { _tag: "StockInUse", count: 1 })
        yield* stocks.refuseInUse(stranger, stockId)
        const sql = yield* SqlClient.SqlClient
        yield* sql`update mechanisms set teardown_status = 'completed' where id = ${queue}`
        yield* stocks.refuseInUse(tenant, stockId)
      })
    )
  })
})
