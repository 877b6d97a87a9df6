import { PgClient } from "@effect/sql-pg"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../src/engine/Engine.ts"
import { placesWritten } from "../../store/support/placesWritten.ts"
import { aQueue, aTenant, layer as records } from "../../store/support/recordsFixture.ts"

describe("Places that a process did not write before it ended", () => {
  layer(records, { excludeTestServices: true })((it) => {
    for (const [name, isOver] of [
      ["a mechanism at work", false],
      ["a mechanism that is over", true]
    ] as const) {
      it.effect(`are written by the next process: of ${name}`, () =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const place = { status: "QUEUED", enteredAt: 5, updatedAt: 5, fields: {} } as const
          const places = [randomUUID(), randomUUID(), randomUUID()].map((consumerId) => ({ consumerId, ...place }))
          const { id } = yield* aQueue(yield* aTenant(), { places })
          const stored = sql`select * from places where mechanism_id = ${id} order by consumer_id`
          yield* placesWritten
          const before = yield* stored
          assert.lengthOf(before, 3)
          // The first entry is written, the others are not.
          yield* sql`delete from places where mechanism_id = ${id} and consumer_id <> ${places[0]!.consumerId}`
          yield* sql`update place_projections set sequence = 2 where mechanism_id = ${id}`
          if (isOver) yield* sql`update mechanisms set archived = true, teardown_status = 'completed' where id = ${id}`
          yield* Effect.provide(placesWritten, Layer.fresh(Engine.layer({ node: "next" })))
          assert.deepStrictEqual(yield* stored, before)
        })
      )
    }
  })
})
