import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { creationOf } from "../../../src/engine/lifecycle/Creation.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { StockMessages } from "../../../src/store/stock/StockMessages.ts"
import { aProduct, aVariant } from "../catalogue/catalogueFixture.ts"
import { aTenant, layer as records } from "../support/recordsFixture.ts"

/** Creates a stock of these variants, which is archived or not. */
const aStockOf = Effect.fnUntraced(function* (
  tenant: Tenant,
  variantIds: ReadonlyArray<string>,
  { isArchived = false, returnsCancelled = true } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const identity = {
    ...tenant,
    id: randomUUID(),
    kind: "stock",
    experienceId: undefined,
    sequenceId: undefined
  } as const
  const configuration = { name: "Stock", variantIds, takers: [], returnsCancelled }
  yield* journal.create([creationOf(identity, configuration, "test", Date.now())])
  yield* sql`update mechanisms set archived = ${isArchived} where id = ${identity.id}`
  return identity.id
})

/** Writes messages that are due since an instant: units that come back, or null for an order that is being written. */
const note = Effect.fnUntraced(function* (
  { organizationId, mode }: Tenant,
  stockId: string,
  at: string,
  { count = 1, units = 1 }: { readonly count?: number; readonly units?: number | null } = {}
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    insert into stock_messages (id, organization_id, mode, stock_id, units, due_at)
    select ${stockId} || n, ${organizationId}::uuid, ${mode}::text, ${stockId}::uuid, ${units}::int, ${at}::timestamptz
    from generate_series(1, ${count}::int) n`
})

describe("Messages to stocks", () => {
  layer(Layer.provideMerge(StockMessages.layer, records), { excludeTestServices: true })((it) => {
    it.effect("reach a stock behind many messages of one that cannot be told, and each is told once", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const messages = yield* StockMessages
        const tenant = yield* aTenant()
        const [away, other] = [yield* aStockOf(tenant, [randomUUID()]), yield* aStockOf(tenant, [randomUUID()])]
        yield* note(tenant, away, "2020-01-01", { count: 250 })
        yield* note(tenant, other, "2020-01-02", { count: 3 })
        const told: Array<string> = []
        const tell = messages.deliver(({ id, stockId }) =>
          Effect.sync(() => {
            if (stockId === other) told.push(id)
            return stockId === other
          })
        )
        let rounds = 1
        while (yield* tell) rounds++
        assert.isAtMost(rounds, 3)
        assert.sameMembers(
          told,
          [1, 2, 3].map((number) => `${other}${number}`)
        )
        assert.lengthOf(yield* sql`select 1 from stock_messages where stock_id = ${away}`, 250)
        assert.isFalse(yield* tell)
      })
    )

    it.effect("are told without an open transaction, and again if the process that took them has died", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const messages = yield* StockMessages
        const tenant = yield* aTenant()
        const stockId = yield* aStockOf(tenant, [randomUUID()])
        yield* note(tenant, stockId, "2020-01-01", { units: null })
        const own = sql<{ readonly due_at: Date }>`select due_at from stock_messages where stock_id = ${stockId}`
        const died = yield* Effect.exit(
          messages.deliver(({ stockId: told }) =>
            Effect.gen(function* () {
              if (told !== stockId) return true
              const open = yield* sql`
                select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`
              assert.deepStrictEqual(open, [])
              return yield* Effect.die("the process died")
            }).pipe(Effect.orDie)
          )
        )
        assert.strictEqual(died._tag, "Failure")
        const [taken] = yield* own
        assert.isAbove(taken!.due_at.getTime(), Date.parse("2020-01-01"))
        const told: Array<string> = []
        const tell = messages.deliver(({ id }) => Effect.sync(() => told.push(id) > 0))
        yield* tell
        assert.notInclude(told, `${stockId}1`)
        yield* sql`update stock_messages set due_at = '2020-01-01' where stock_id = ${stockId}`
        yield* tell
        assert.include(told, `${stockId}1`)
        assert.deepStrictEqual(yield* own, [])
      })
    )

    it.effect("for an archived stock give units to its first variant that has no other stock, if any come back", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const messages = yield* StockMessages
        const tenant = yield* aTenant()
        const productId = yield* aProduct(tenant)
        const variant = aVariant(tenant, productId, { inventoryPolicy: "deny", inventoryQuantity: 3 })
        const [moved, own, kept] = [yield* variant, yield* variant, yield* variant]
        const quantities = Effect.map(
          sql<{ readonly id: string; readonly units: number }>`
            select id, (record ->> 'inventoryQuantity')::int as units from product_variants where product_id = ${productId}`,
          (rows) => [moved, own, kept].map((id) => rows.find((row) => row.id === id)?.units)
        )
        const present = yield* aStockOf(tenant, [moved])
        yield* sql`insert into stock_variants (variant_id, stock_id) values (${moved}, ${present})`
        const archived = yield* aStockOf(tenant, [moved, own], { isArchived: true })
        const strict = yield* aStockOf(tenant, [kept], { isArchived: true, returnsCancelled: false })
        const nowhere = yield* aStockOf(tenant, [moved], { isArchived: true })
        for (const stockId of [archived, strict, nowhere]) yield* note(tenant, stockId, "2020-01-01", { count: 2 })
        yield* messages.deliver(({ stockId }) => Effect.die(`told ${stockId}`))
        assert.deepStrictEqual(yield* quantities, [3, 5, 3])
        assert.deepStrictEqual(yield* sql`select 1 from stock_messages where units is not null and due_at < now()`, [])
      })
    )
  })
})
