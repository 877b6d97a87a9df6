/**
 * Named steps at which a test can stop the process. The tests show that a crash between deciding, committing, answering,
 * writing places and moving units has no visible effect. In servers it is unset, and a step costs one comparison.
 */
import { Context, type Effect } from "effect"

/**
 * The steps. Of an actor: events decided but not sent; events on disk but no caller answered; every caller answered.
 * Of the writer of places: places taken but not sent; places on disk.
 */
export type WriteStep = "decided" | "committed" | "answered" | "placesTaken" | "placesWritten"

/** The steps of a transfer of units: one side has recorded it, and the other has yet to be told; it has been told. */
export type TransferStep = "unitsUntold" | "unitsTold"

export type Step = WriteStep | TransferStep

export const Failpoint = Context.Reference<((step: Step) => Effect.Effect<void>) | undefined>(
  "usher/store/journal/Failpoint",
  { defaultValue: () => undefined }
)
