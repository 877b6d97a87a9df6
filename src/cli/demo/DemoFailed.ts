/** The error that ends the demo, with a message for the operator. */
import { Runtime, Schema } from "effect"

/** The problem, with the server's last output where that helps. */
export class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { message: Schema.String }) {
  // The command prints the message. A log entry with a stack would only hide it.
  override readonly [Runtime.errorReported] = false
}
