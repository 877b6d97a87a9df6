/** Carries units between the stocks of this process and their mechanisms. */
import { Effect, Layer } from "effect"
import { UnitTransfers } from "../engine/lifecycle/UnitTransfers.ts"
import { start } from "./WorkerLoop.ts"

/** Pause between rounds. A unit that comes back is with the next taker after two of them at the latest. */
const pauseMillis = 250

/** Starts the fiber. Needs `UnitTransfers`. */
export const layerNoDeps = Layer.effectDiscard(
  Effect.gen(function* () {
    const { carryAll: round } = yield* UnitTransfers
    yield* start({ round, pauseMillis, failureMessage: "Units of stocks could not be carried" })
  })
)

/** The fiber with its service. */
export const layer = Layer.provide(layerNoDeps, UnitTransfers.layer)
