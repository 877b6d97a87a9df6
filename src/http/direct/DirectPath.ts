/** Where the routes of a listener leave their direct path, before the listener accepts connections. */
import { Context, Effect, Layer, type Scope } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"

/** Answers a request of the common kind. Leaves any other request to `otherwise`, and has changed nothing then. */
export type Answer = (message: IncomingMessage, response: ServerResponse, otherwise: () => void) => void

/** Opens the direct path. Requests in progress are interrupted when the scope closes. */
type Open = Effect.Effect<Answer, never, Scope.Scope>

export class DirectPath extends Context.Service<
  DirectPath,
  {
    /** Sets the direct path of the listener. */
    use(open: Open): Effect.Effect<void>
    readonly open: Open
  }
>()("usher/http/direct/DirectPath") {
  /** Without a direct path until one is set. */
  static readonly layer = Layer.sync(DirectPath, () => {
    let current: Open = Effect.succeed((_message, _response, otherwise) => otherwise())
    return {
      use: (open) => Effect.sync(() => void (current = open)),
      open: Effect.suspend(() => current)
    }
  })
}
