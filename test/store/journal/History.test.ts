import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type * as Queue from "../../../src/domain/queue/Queue.ts"
import { History } from "../../../src/store/journal/History.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { aQueue, aTenant, inTestMode, layer as records, walk } from "../support/recordsFixture.ts"
import { withoutBounds } from "../../../src/store/postgres/BoundedClient.ts"

describe("A mechanism's history in Postgres", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("holds every event as it was recorded, in order", () =>
      Effect.gen(function* () {
        const history = yield* History
        const journal = yield* Journal
        const tenant = yield* aTenant()
        const { id } = yield* aQueue(tenant)
        const consumerId = randomUUID()
        const events: ReadonlyArray<Queue.Event> = [
          { _tag: "Entered", at: 1_000, consumerId, loyaltyScore: 0.5 },
          { _tag: "Opened", at: 1_001, seed: "00112233445566778899aabbccddeeff" },
          { _tag: "Denied", at: 1_002, consumerId, reason: "FRAUD_DETECTED" }
        ]
        yield* journal.append({ mechanismId: id, kind: "queue", expectedSequence: 1, events, places: [], wakeAt: null })
        const { data } = yield* history.list(tenant, id, {}, {})
        assert.deepInclude(data[0], { sequence: 1, type: "Configured", at: 1, consumerId: null })
        assert.deepStrictEqual(data.slice(1), [
          { sequence: 2, type: "Entered", at: 1_000, consumerId, data: { loyaltyScore: 0.5 } },
          {
            sequence: 3,
            type: "Opened",
            at: 1_001,
            consumerId: null,
            data: { seed: "00112233445566778899aabbccddeeff" }
          },
          { sequence: 4, type: "Denied", at: 1_002, consumerId, data: { reason: "FRAUD_DETECTED" } }
        ])
      })
    )

    it.effect("is paged forward and backward while it grows, each event once", () =>
      Effect.gen(function* () {
        const history = yield* History
        const journal = yield* Journal
        const tenant = yield* aTenant()
        const { id } = yield* aQueue(tenant)
        let sequence = 1
        const grow = (count: number) =>
          Effect.suspend(() => {
            const expectedSequence = sequence
            sequence += count
            const events = Array.from({ length: count }, () => ({ _tag: "Entered", at: 5, consumerId: randomUUID() }))
            return journal.append({
              mechanismId: id,
              kind: "queue",
              expectedSequence,
              events,
              places: [],
              wakeAt: null
            })
          })
        yield* grow(25)
        const forward = yield* walk(10, (query) => history.list(tenant, id, query, {}), {
          between: (pages) => (pages === 1 ? grow(5) : Effect.void)
        })
        assert.deepStrictEqual(
          forward.map(({ sequence }) => sequence),
          Array.from({ length: 31 }, (_, n) => n + 1)
        )
        const backward = yield* walk(10, (query) => history.list(tenant, id, { ...query, sortDir: "desc" }, {}), {
          backward: true
        })
        assert.deepStrictEqual(backward, forward.toReversed())
        const configured = yield* history.list(tenant, id, {}, { type: "Configured" })
        assert.deepStrictEqual(
          configured.data.map(({ sequence }) => sequence),
          [1]
        )
      })
    )

    it.effect("is paged in the same way with a filter for a type that many, few, or only the last events have", () =>
      Effect.gen(function* () {
        const history = yield* History
        const tenant = yield* aTenant()
        const { id } = yield* aQueue(tenant)
        // More events than one scan covers, of a type that the list does not filter by.
        const typeOf = (sequence: number) =>
          sequence > 60_000 ? "Left" : sequence % 1_999 === 0 ? "Denied" : sequence % 50 === 0 ? "Granted" : "Entered"
        const sequences = Array.from({ length: 62_000 }, (_, index) => index + 2)
        const sql = yield* SqlClient.SqlClient
        yield* withoutBounds(sql`
          insert into journal (mechanism_id, sequence, at, type, consumer_id)
          select ${id}, sequence, to_timestamp(sequence), type, gen_random_uuid()
          from unnest(${sequences}::int[], ${sequences.map(typeOf)}::text[]) as event (sequence, type)`)
        yield* sql`analyze journal`
        for (const type of ["Granted", "Denied", "Left", "Ended"]) {
          const expected = sequences.filter((sequence) => typeOf(sequence) === type)
          const forward = yield* walk(100, (query) => history.list(tenant, id, query, { type }))
          assert.deepStrictEqual(
            forward.map(({ sequence }) => sequence),
            expected,
            type
          )
          const backward = yield* walk(100, (query) => history.list(tenant, id, query, { type }), { backward: true })
          assert.deepStrictEqual(backward, forward, type)
        }
      })
    )

    it.effect("is visible to its tenant alone", () =>
      Effect.gen(function* () {
        const history = yield* History
        const tenant = yield* aTenant()
        const { id } = yield* aQueue(tenant)
        assert.lengthOf((yield* history.list(tenant, id, {}, {})).data, 1)
        for (const other of [inTestMode(tenant), yield* aTenant()]) {
          assert.deepStrictEqual((yield* history.list(other, id, {}, {})).data, [])
        }
      })
    )
  })
})
