import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import { movableClock } from "../../support/movableClock.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** A separate process, from the database's point of view. */
const aProcess = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<Layer.Services<typeof Invalidations.layer>>()
  const built = yield* Layer.buildWithMemoMap(
    Invalidations.layer.pipe(Layer.provide(Layer.succeedContext(context))),
    Layer.makeMemoMapUnsafe(),
    scope
  )
  const invalidations = yield* Effect.provide(Invalidations, built)
  const heard: Array<string> = []
  let refreshed = 0
  yield* invalidations.subscribe("settings", {
    handle: (payload) => Effect.sync(() => void heard.push(payload)),
    refresh: Effect.sync(() => void refreshed++)
  })
  return { ...invalidations, heard, refreshed: () => refreshed }
})

const until = (holds: () => boolean) =>
  Effect.sync(holds).pipe(
    Effect.repeat({ until: (found) => found, schedule: Schedule.spaced("5 millis") }),
    Effect.timeout("20 minutes")
  )

describe("Invalidations", () => {
  layer(TestDatabase.layer, { excludeTestServices: true })((it) => {
    it.effect("reach every process with their content, in the order of the commits", () =>
      Effect.gen(function* () {
        const one = yield* aProcess
        const other = yield* aProcess
        yield* one.publish("settings", "first: with a colon")
        yield* other.publish("settings", "second")
        yield* until(() => one.heard.length === 2 && other.heard.length === 2)
        assert.deepStrictEqual(one.heard, ["first: with a colon", "second"])
        assert.deepStrictEqual(other.heard, one.heard)
      })
    )

    it.effect("are sent by a transaction that commits, not by one that is rolled back", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { publish, heard } = yield* aProcess
        yield* publish("settings", "never").pipe(Effect.andThen(Effect.fail("no")), sql.withTransaction, Effect.ignore)
        yield* Effect.gen(function* () {
          yield* publish("settings", "committed")
          yield* Effect.sleep("30 millis")
          assert.deepStrictEqual(heard, [])
        }).pipe(sql.withTransaction)
        yield* until(() => heard.length > 0)
        assert.deepStrictEqual(heard, ["committed"])
      })
    )

    it.effect("are settled once every process has handled them, however slow it is", () =>
      Effect.gen(function* () {
        const one = yield* aProcess
        const other = yield* aProcess
        const handled: Array<string> = []
        yield* other.subscribe("session", {
          handle: (payload) =>
            Effect.andThen(
              Effect.sleep("150 millis"),
              Effect.sync(() => void handled.push(payload))
            ),
          refresh: Effect.void
        })
        // Each process knows the other from its heartbeat.
        yield* Effect.sleep("50 millis")
        for (let round = 0; round < 3; round++) {
          yield* one.publish("session", `${round}`)
          yield* one.settled
          assert.strictEqual(handled.length, round + 1)
        }
      })
    )

    it.effect("are settled once the process itself has handled them, if it is the only one", () =>
      Effect.gen(function* () {
        const only = yield* aProcess
        for (let round = 1; round <= 20; round++) {
          yield* only.publish("settings", `${round}`)
          yield* only.settled
          assert.lengthOf(only.heard, round)
        }
      })
    )

    it.effect("no longer reach a subscriber whose scope has closed", () =>
      Effect.gen(function* () {
        const { subscribe, publish, settled } = yield* aProcess
        const handled: Array<string> = []
        const handle = (payload: string) => Effect.sync(() => void handled.push(payload))
        const publishing = (payload: string) => Effect.andThen(publish("session", payload), settled)
        yield* Effect.scoped(
          Effect.andThen(subscribe("session", { handle, refresh: Effect.void }), publishing("while open"))
        )
        yield* publishing("afterwards")
        assert.deepStrictEqual(handled, ["while open"])
      })
    )

    it.effect("do not wait for a process that has ended", () =>
      Effect.gen(function* () {
        const one = yield* aProcess
        yield* Effect.scoped(aProcess)
        yield* Effect.sleep("50 millis")
        const startedAt = performance.now()
        yield* one.settled
        assert.isBelow(performance.now() - startedAt, 2_500)
      })
    )

    it.effect("are not current once a lease has passed by the wall clock, and are again when it is set back", () =>
      Effect.gen(function* () {
        const clock = movableClock()
        const { isCurrent } = yield* aProcess.pipe(Effect.provide(clock.layer))
        assert.isTrue(isCurrent())
        yield* clock.putForward(10_000)
        assert.isFalse(isCurrent(), "by the clock on the wall the lease is over")
        yield* until(isCurrent)
        yield* clock.putForward(-60_000)
        assert.isTrue(isCurrent(), "the last heartbeat was a moment ago")
      })
    )

    it.effect("leave cached answers usable for a minute while the database does not answer", () =>
      Effect.gen(function* () {
        const clock = movableClock()
        const { orLastHeard } = yield* aProcess.pipe(Effect.provide(clock.layer))
        const away = new Unavailable({ cause: "the test says so" })
        assert.strictEqual(yield* orLastHeard(Effect.succeed("asked"), "heard"), "asked")
        assert.strictEqual(yield* orLastHeard(away, "heard"), "heard")
        yield* clock.putForward(61_000)
        assert.strictEqual(yield* Effect.flip(orLastHeard(away, "heard")), away)
      })
    )

    it.effect("are not current while the connection is away, and all data is read again afterwards", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const one = yield* aProcess
        assert.isTrue(one.isCurrent())
        const before = one.refreshed()
        yield* sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query like 'LISTEN%'`
        yield* until(() => !one.isCurrent())
        yield* until(() => one.isCurrent())
        assert.isAbove(one.refreshed(), before)
        yield* one.publish("settings", "after")
        yield* until(() => one.heard.includes("after"))
      })
    )
  })
})
