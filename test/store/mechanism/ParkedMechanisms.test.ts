/** Requests to unpark a mechanism: what is stored, and when processes hear of it. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import { ParkedMechanisms } from "../../../src/store/mechanism/ParkedMechanisms.ts"
import { TenantEvents } from "../../../src/store/organization/TenantEvents.ts"
import { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import { aQueue, aTenant, layer as records } from "../support/recordsFixture.ts"

const services = Layer.merge(ParkedMechanisms.layer, TenantEvents.layer).pipe(
  Layer.provideMerge(Invalidations.layer),
  Layer.provideMerge(records)
)

/** A parked queue, and what is recorded about its unparking. */
const parked = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const events = yield* TenantEvents
  const tenant = yield* aTenant()
  const { id } = yield* aQueue(tenant)
  yield* (yield* ParkedMechanisms).replace("one", [{ mechanismId: id, restarts: 5, cause: "a fault" }])
  return {
    id,
    note: events.note(tenant, "operator:1", id, { action: "unpark" }),
    rows: Effect.map(sql`select 1 from parked_mechanisms where mechanism_id = ${id}`, ({ length }) => length),
    notes: Effect.map(events.list(tenant, { type: "distribution.noted" }), ({ data }) => data.map(({ actor }) => actor))
  }
})

/** The mechanisms that this process hears of. `settled` waits until it has heard of all. */
const listening = Effect.gen(function* () {
  const { subscribe, settled } = yield* Invalidations
  const heard: Array<string> = []
  const handle = (mechanismId: string) => Effect.sync(() => void heard.push(mechanismId))
  yield* subscribe("unpark", { handle, refresh: Effect.void })
  return { heard, settled }
})

describe("A request to unpark a mechanism", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("removes it from the list, records the author, and reaches all processes", () =>
      Effect.gen(function* () {
        const mechanisms = yield* ParkedMechanisms
        const { id, note, rows, notes } = yield* parked
        const { heard, settled } = yield* listening
        assert.isTrue(yield* mechanisms.unpark(id, note))
        assert.deepStrictEqual([yield* rows, yield* notes], [0, ["operator:1"]])
        assert.isFalse(yield* mechanisms.unpark(id))
        yield* settled
        assert.deepStrictEqual(heard, [id, id])
      })
    )

    it.effect("does nothing if its author cannot be recorded", () =>
      Effect.gen(function* () {
        const mechanisms = yield* ParkedMechanisms
        const { id, note, rows, notes } = yield* parked
        const { heard, settled } = yield* listening
        const unrecorded = Effect.andThen(note, Effect.fail(new Unavailable({ cause: "the test says so" })))
        assert.instanceOf(yield* Effect.flip(mechanisms.unpark(id, unrecorded)), Unavailable)
        yield* settled
        assert.deepStrictEqual([yield* rows, yield* notes, heard], [1, [], []])
      })
    )
  })
})
