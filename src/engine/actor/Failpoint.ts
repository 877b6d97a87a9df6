/**
 * Named steps of the actor's loop at which a test can stop the process. The tests show that a crash between deciding,
 * committing and answering has no visible effect. In servers it is unset, and a step costs one comparison.
 */
import { Context, type Effect } from "effect"

/** The steps: events decided but not sent; events on disk but no caller answered; every caller answered. */
export type Step = "decided" | "committed" | "answered"

export const Failpoint = Context.Reference<((step: Step) => Effect.Effect<void>) | undefined>(
  "usher/engine/actor/Failpoint",
  { defaultValue: () => undefined }
)
