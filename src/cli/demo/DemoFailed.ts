/**
 * Why the demo could not go on, told to the person who started it.
 */
import { Runtime, Schema } from "effect"

/** What went wrong, with what the server last said where that helps. */
export class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { message: Schema.String }) {
  // It is told in words by the command; a log entry with a stack would only bury them.
  override readonly [Runtime.errorReported] = false
}
