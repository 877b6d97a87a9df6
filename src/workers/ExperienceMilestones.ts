/** Marks the experiences that opened and closed (`store/webhook/ExperienceMilestones.ts`). Any number of processes may run it. */
import { Clock, Effect, Layer } from "effect"
import { markMilestones } from "../store/webhook/ExperienceMilestones.ts"

/** Pause between two rounds. */
const pauseMillis = 5_000

/** Runs a round every five seconds. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(Clock.currentTimeMillis, markMilestones).pipe(
    Effect.catchCause((cause) =>
      Effect.logWarning("Openings of experiences could not be recorded; trying again", cause)
    ),
    Effect.andThen(Effect.sleep(pauseMillis)),
    Effect.forever,
    Effect.forkScoped
  )
)
