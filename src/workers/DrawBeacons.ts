/**
 * Brings the rounds of the public randomness beacon to the draws that wait for them (completions 3, "Draw").
 *
 * The draws themselves say which rounds they wait for. So this worker keeps nothing, and a restart, or an outage of the
 * beacon for a day, loses nothing.
 */
import { Clock, Effect, Layer } from "effect"
import { Beacon, type BeaconUnavailable } from "../beacon/Beacon.ts"
import * as Draw from "../domain/draw/Draw.ts"
import { Engine, type QueryAnswer } from "../engine/Engine.ts"
import * as EffectLoop from "./EffectLoop.ts"

/** Between two looks while a draw waits. */
const lookIntervalMillis = 1_000

/** Longest time between two looks while no draw waits, in case a signal was missed. */
const idleIntervalMillis = 5_000

/** Between two looks while no relay is of use, in addition to the pauses between the attempts themselves. */
const outageIntervalMillis = 5_000

/** Rounds that are fetched at the same time. */
const roundsAtOnce = 4

/** The fiber that brings the rounds. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const engine = yield* Engine
    const beacon = yield* Beacon
    let isOutage = false

    /** Fetches a round once for all draws that wait for it. A draw that cannot take it now is asked again. */
    const provide = Effect.fnUntraced(function* ([round, draws]: [number, ReadonlyArray<QueryAnswer<"draw", number>>]) {
      const provided = yield* beacon.round(round)
      yield* Effect.forEach(
        draws,
        ({ mechanism }) => Effect.ignore(engine.sendAdmin(mechanism, { _tag: "ProvideBeacon", ...provided })),
        { discard: true }
      )
    })

    /** Logs when the beacon is lost and when it is found again, not each attempt. */
    const log = Effect.fnUntraced(function* ([missing]: ReadonlyArray<BeaconUnavailable>) {
      if (isOutage === (missing !== undefined)) return
      isOutage = missing !== undefined
      yield* missing === undefined
        ? Effect.logInfo("The randomness beacon is there again; the draws that waited for it go on")
        : Effect.logWarning("The randomness beacon is out of reach; draws wait for it").pipe(
            Effect.annotateLogs({ round: missing.round, reasons: missing.reasons.join("; ") })
          )
    })

    const look = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const waiting = yield* engine.query("draw", Draw.awaitsBeacon)
      const signed = waiting.filter(({ answer }) => Draw.timeOfRound(answer) <= now)
      if (signed.length === 0) return waiting.length === 0 ? idleIntervalMillis : lookIntervalMillis
      const rounds = Map.groupBy(signed, ({ answer }) => answer)
      const [, missing] = yield* Effect.partition(rounds, provide, { concurrency: roundsAtOnce })
      yield* log(missing)
      if (isOutage) yield* Effect.sleep(outageIntervalMillis)
      return lookIntervalMillis
    })

    yield* EffectLoop.start({
      kind: "draw",
      spacingMillis: lookIntervalMillis,
      look: Effect.catchDefect(look, (defect) =>
        Effect.as(Effect.logError("Waiting draws could not be looked after", defect), lookIntervalMillis)
      )
    })
  })
)
