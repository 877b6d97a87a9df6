/** Removes idle guests four times a day (`store/consumer/IdleGuests.ts`). Any number of processes may run it. */
import { Duration, Effect, Layer } from "effect"
import { removeIdleGuests } from "../store/consumer/IdleGuests.ts"

/** Pause between two rounds. */
const intervalHours = 6

/** Runs a round every six hours, the first one six hours after the start. */
export const layer = Layer.effectDiscard(
  Effect.sleep(Duration.hours(intervalHours)).pipe(
    Effect.andThen(removeIdleGuests),
    Effect.flatMap((removed) => (removed > 0 ? Effect.logInfo(`Removed ${removed} idle guests`) : Effect.void)),
    Effect.catchCause((cause) => Effect.logWarning("Idle guests could not be removed; trying again", cause)),
    Effect.forever,
    Effect.forkScoped
  )
)
