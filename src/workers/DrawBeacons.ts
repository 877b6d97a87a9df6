/**
 * Delivers rounds of the public randomness beacon to the draws that wait for them.
 *
 * The draws say which rounds they wait for, and the worker stores nothing itself. So nothing is lost by a restart, or when
 * no relay is reachable for a day: the draws are queried again.
 *
 * With a test clock a draw may wait for a round that nobody can know yet. Such a round is simulated, and marked as that in
 * the journal and the proof of the draw.
 */
import { Effect, Layer } from "effect"
import { Beacon, type BeaconUnavailable } from "../beacon/Beacon.ts"
import * as Draw from "../domain/draw/Draw.ts"
import { Engine, type QueryAnswer } from "../engine/Engine.ts"
import { annotated } from "../measures/StateChange.ts"
import { TestClocks } from "../store/testClock/TestClocks.ts"
import { start, wakeUpFor } from "./WorkerLoop.ts"
import * as Time from "../store/coordination/Time.ts"

/** Pause between polls while a draw waits. */
const pollIntervalMillis = 1_000

/** Longest pause between polls while no draw waits. The engine ends it when a draw begins to wait. */
const idleIntervalMillis = 5_000

/** Pause between polls while no relay responds, in addition to the pauses of the retries. */
const outageIntervalMillis = 5_000

/** Rounds fetched at the same time. */
const roundsAtOnce = 4

/** Starts the fiber that polls the waiting draws. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const engine = yield* Engine
    const beacon = yield* Beacon
    const clocks = yield* TestClocks
    let isOutage = false

    /** Fetches a round once for all draws that wait for it. If a draw cannot accept it now, the next poll retries. */
    const provide = Effect.fnUntraced(function* ([round, draws]: [number, ReadonlyArray<QueryAnswer<"draw", number>>]) {
      const provided = yield* beacon.round(round)
      yield* Effect.forEach(
        draws,
        ({ mechanism }) => Effect.ignore(engine.sendAdmin(mechanism, { _tag: "ProvideBeacon", ...provided })),
        { discard: true }
      )
    })

    /** Simulates a round that the network has not signed yet, once the test clock of the draw's tenant has reached it. */
    const simulate = ({ mechanism, answer: round }: QueryAnswer<"draw", number>) => {
      const clock = clocks.of(mechanism.tenant)
      if (clock === undefined || Draw.timeOfRound(round) > clock.frozenAt) return Effect.void
      const provided = { round, ...Draw.simulatedRound(clock.seed, round) }
      return Effect.ignore(engine.sendAdmin(mechanism, { _tag: "ProvideBeacon", ...provided, isSimulated: true }))
    }

    /** Logs when the beacon becomes unavailable and when it is available again, not at every try. */
    const logChange = Effect.fnUntraced(function* ([missing]: ReadonlyArray<BeaconUnavailable>) {
      if (isOutage === (missing !== undefined)) return
      isOutage = missing !== undefined
      yield* missing === undefined
        ? Effect.logInfo("The randomness beacon is available again; waiting draws continue").pipe(
            annotated("beacon.back")
          )
        : Effect.logWarning("The randomness beacon is unavailable; draws wait for it").pipe(
            annotated("beacon.lost", { round: missing.round, reasons: missing.reasons.join("; ") })
          )
    })

    const poll = Effect.gen(function* () {
      const now = yield* Time.serverNow
      const waiting = yield* engine.query("draw", Draw.awaitsBeacon)
      const signed = waiting.filter(({ answer }) => Draw.timeOfRound(answer) <= now)
      const future = waiting.filter(({ answer }) => Draw.timeOfRound(answer) > now)
      yield* Effect.forEach(future, simulate, { discard: true })
      if (signed.length === 0) return waiting.length > 0
      const rounds = Map.groupBy(signed, ({ answer }) => answer)
      const [, missing] = yield* Effect.partition(rounds, provide, { concurrency: roundsAtOnce })
      yield* logChange(missing)
      if (isOutage) yield* Effect.sleep(outageIntervalMillis)
      return true
    })

    yield* start({
      round: poll,
      pauseMillis: idleIntervalMillis,
      spacingMillis: pollIntervalMillis,
      wakeUp: yield* wakeUpFor("draw"),
      failureMessage: "Waiting draws could not be polled"
    })
  })
)
