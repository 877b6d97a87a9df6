/**
 * Records which mechanisms are parked in this process, and restarts one when an operator requests it (`usher
 * mechanisms`, or the Admin API of any process).
 */
import { Effect, Layer } from "effect"
import { Engine } from "../engine/Engine.ts"
import { Settings } from "../settings/Settings.ts"
import { Invalidations } from "../store/coordination/Invalidations.ts"
import { ParkedMechanisms } from "../store/mechanism/ParkedMechanisms.ts"
import { start } from "./WorkerLoop.ts"

const pollIntervalMillis = 1_000

/** Starts the fiber that records parked mechanisms, and subscribes to requests to restart one. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const engine = yield* Engine
    const invalidations = yield* Invalidations
    const parkedMechanisms = yield* ParkedMechanisms
    const { nodeName } = yield* Settings

    /** The last recorded rows. Undefined at first, because an earlier process may have left rows. */
    let recorded: string | undefined

    const poll = Effect.gen(function* () {
      const parked = yield* engine.parked
      const ids = parked.map(({ mechanismId, restarts }) => `${mechanismId}:${restarts}`).join()
      if (ids === recorded) return
      yield* parkedMechanisms.replace(nodeName, parked)
      recorded = ids
    })

    yield* invalidations.subscribe("unpark", {
      handle: (mechanismId) =>
        Effect.flatMap(engine.parked, (parked) =>
          parked.some((one) => one.mechanismId === mechanismId)
            ? Effect.forkDetach(engine.unpark(mechanismId))
            : Effect.void
        ),
      refresh: Effect.void
    })
    yield* start({
      round: poll,
      pauseMillis: pollIntervalMillis,
      failureMessage: "Parked mechanisms could not be recorded"
    })
  })
).pipe(Layer.provide(ParkedMechanisms.layer))
