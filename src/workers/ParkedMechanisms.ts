/**
 * Shows operators which mechanisms stand still in this process, and gives one another chance when they say so
 * (`usher mechanisms`).
 */
import { Effect, Layer, Schedule } from "effect"
import { Engine } from "../engine/Engine.ts"
import { Settings } from "../settings/Settings.ts"
import { Invalidations } from "../store/coordination/Invalidations.ts"
import { ParkedMechanisms } from "../store/mechanism/ParkedMechanisms.ts"

const lookIntervalMillis = 1_000

/** The fiber that writes down what stands still, and hears what is to go on. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const engine = yield* Engine
    const invalidations = yield* Invalidations
    const parkedMechanisms = yield* ParkedMechanisms
    const { nodeName } = yield* Settings

    /** What was written down last; undefined before the first time, as a former process may have left something. */
    let written: string | undefined

    const look = Effect.gen(function* () {
      const parked = yield* engine.parked
      const ids = parked.map(({ mechanismId, restarts }) => `${mechanismId}:${restarts}`).join()
      if (ids === written) return
      yield* parkedMechanisms.replace(nodeName, parked)
      written = ids
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
    yield* Effect.ignore(look).pipe(Effect.repeat(Schedule.spaced(lookIntervalMillis)), Effect.forkScoped)
  })
).pipe(Layer.provide(ParkedMechanisms.layer))
