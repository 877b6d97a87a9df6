/**
 * Finishes an upgrade automatically, an hour after the last process of the former release
 * (`store/postgres/Upgrade.ts`). Any number of processes may run it.
 */
import { Duration, Effect, Layer } from "effect"
import { finishWhenDue } from "../store/postgres/Upgrade.ts"

/** Pause between two checks. */
const intervalMinutes = 1

/** Checks once a minute, the first time a minute after the start. */
export const layer = Layer.effectDiscard(
  Effect.sleep(Duration.minutes(intervalMinutes)).pipe(
    Effect.andThen(finishWhenDue),
    Effect.flatMap((isFinished) => (isFinished ? Effect.logInfo("The upgrade is finished") : Effect.void)),
    Effect.catchCause((cause) => Effect.logWarning("The upgrade could not be finished; trying again", cause)),
    Effect.forever,
    Effect.forkScoped
  )
)
