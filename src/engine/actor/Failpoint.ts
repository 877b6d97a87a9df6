/**
 * Named steps of the actor's loop at which a test can stop the world, to show that a crash between deciding,
 * committing and answering is invisible. Unset, as it is in every server, a step costs one comparison.
 */
import { Context, type Effect } from "effect"

/** Where in the loop: events decided but not sent; events on disk but nobody answered; everybody answered. */
export type Step = "decided" | "committed" | "answered"

export const Failpoint = Context.Reference<((step: Step) => Effect.Effect<void>) | undefined>(
  "usher/engine/actor/Failpoint",
  { defaultValue: () => undefined }
)
