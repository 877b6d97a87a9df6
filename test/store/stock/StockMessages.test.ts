import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { creationOf } from "../../../src/engine/lifecycle/Creation.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { StockMessages } from "../../../src/store/stock/StockMessages.ts"
import { aTenant, layer as records } from "../support/recordsFixture.ts"

describe("Messages to stocks", () => {
  layer(Layer.provideMerge(StockMessages.layer, records), { excludeTestServices: true })((it) => {
    it.effect("reach a stock behind many messages of one that cannot be told, and each is told once", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const journal = yield* Journal
        const messages = yield* StockMessages
        const tenant = yield* aTenant()
        const aStock = Effect.gen(function* () {
          const identity = {
            ...tenant,
            id: randomUUID(),
            kind: "stock",
            experienceId: undefined,
            sequenceId: undefined
          } as const
          const configuration = { name: "Stock", variantIds: [randomUUID()], takers: [], returnsCancelled: true }
          yield* journal.create([creationOf(identity, configuration, "test", Date.now())])
          return identity.id
        })
        const [away, other] = [yield* aStock, yield* aStock]
        const note = (stockId: string, count: number, at: string) => sql`
          insert into stock_messages (id, organization_id, mode, stock_id, units, due_at)
          select ${stockId} || n, ${tenant.organizationId}::uuid, ${tenant.mode}::text, ${stockId}::uuid, 1, ${at}::timestamptz
          from generate_series(1, ${count}::int) n`
        yield* note(away, 250, "2020-01-01")
        yield* note(other, 3, "2020-01-02")
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
  })
})
