/**
 * Brings the rounds of the public randomness beacon to the draws that wait for them (completions 3, "Draw").
 *
 * Which draws wait is asked of the draws themselves, every second. So nothing is kept here, and nothing can be lost: after
 * a restart, or when no relay of the beacon could be reached for a day, they are simply asked again.
 */
import { Clock, Effect, Layer, Schedule } from "effect"
import { Beacon, type BeaconUnavailable } from "../beacon/Beacon.ts"
import * as Draw from "../domain/draw/Draw.ts"
import { Engine, type QueryAnswer } from "../engine/Engine.ts"

const lookIntervalMillis = 1_000

/** Between one look and the next while no relay is of use, beside the pauses that the tries themselves make. */
const outageIntervalMillis = 5_000

/** Rounds that are fetched at the same time. */
const roundsAtOnce = 4

/** The fiber that looks after the waiting draws. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const engine = yield* Engine
    const beacon = yield* Beacon
    let isOutage = false

    /** Fetches a round once for all the draws that wait for it. A draw that cannot be told now is asked again. */
    const provide = Effect.fnUntraced(function* ([round, draws]: [number, ReadonlyArray<QueryAnswer<"draw", number>>]) {
      const provided = yield* beacon.round(round)
      yield* Effect.forEach(
        draws,
        ({ mechanism }) => Effect.ignore(engine.sendAdmin(mechanism, { _tag: "ProvideBeacon", ...provided })),
        { discard: true }
      )
    })

    /** Tells when the beacon is lost and when it is found again, not at every try. */
    const tell = Effect.fnUntraced(function* ([missing]: ReadonlyArray<BeaconUnavailable>) {
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
      if (signed.length === 0) return
      const rounds = Map.groupBy(signed, ({ answer }) => answer)
      const [, missing] = yield* Effect.partition(rounds, provide, { concurrency: roundsAtOnce })
      yield* tell(missing)
      if (isOutage) yield* Effect.sleep(outageIntervalMillis)
    })

    yield* look.pipe(
      Effect.catchDefect((defect) => Effect.logError("Waiting draws could not be looked after", defect)),
      Effect.repeat(Schedule.spaced(lookIntervalMillis)),
      Effect.forkScoped
    )
  })
)
