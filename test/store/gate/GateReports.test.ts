/** What one process has heard of a gate is known to the others. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { reportIn, textOf } from "../../../src/domain/gate/Report.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import { GateReports } from "../../../src/store/gate/GateReports.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** A separate process, from the database's point of view. */
const aProcess = Effect.gen(function* () {
  const context = yield* Effect.context<Layer.Services<typeof Invalidations.layer>>()
  const built = yield* Layer.buildWithMemoMap(
    GateReports.layer.pipe(Layer.provide(Invalidations.layer), Layer.provide(Layer.succeedContext(context))),
    Layer.makeMemoMapUnsafe(),
    yield* Effect.scope
  )
  return yield* Effect.provide(GateReports, built)
})

const gateId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
const otherId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5b"

describe("The gates that were seen", () => {
  layer(TestDatabase.layer, { excludeTestServices: true })((it) => {
    it.effect("by one process are known to another, with what they said last and without a report", () =>
      Effect.gen(function* () {
        const [one, other] = [yield* aProcess, yield* aProcess]
        const texts = Array.from(
          { length: 45 },
          (_, n) => `node/instance-${n} version pass=${n} return=0 room=1 wait=0 closed=0`
        )
        for (const text of texts) {
          yield* one.note(gateId, reportIn(text.replace(/pass=\d+/, "pass=0")))
          yield* one.note(gateId, reportIn(text))
        }
        yield* one.note(otherId, undefined)
        assert.deepStrictEqual(yield* other.seen(gateId), [])
        const seen = yield* other
          .seen(gateId)
          .pipe(
            Effect.repeat({ until: ({ length }) => length >= texts.length, schedule: Schedule.spaced("20 millis") }),
            Effect.timeout("20 minutes")
          )
        assert.sameMembers(
          seen.map(({ report }) => report && textOf(report)),
          texts
        )
        const silent = yield* other
          .seen(otherId)
          .pipe(
            Effect.repeat({ until: ({ length }) => length > 0, schedule: Schedule.spaced("20 millis") }),
            Effect.timeout("20 minutes")
          )
        assert.deepStrictEqual(
          silent.map(({ report }) => report),
          [undefined]
        )
      })
    )
  })
})
