/** The sample shop of the demo: a small server that knows nothing of Usher, and counts its visitors for itself. */
import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { DemoFailed } from "../DemoFailed.ts"

/** The header by which the shop tells the demo's visitors apart. Gates leave it as it is. */
export const visitorHeader = "x-visitor"

/** Has the shop answer, or answers itself. */
export type Before = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  shop: (incoming: IncomingMessage, outgoing: ServerResponse) => void
) => void

export interface Shop {
  readonly port: number
  /** The visitors whose checkout it has served. */
  readonly served: Set<string>
}

/** Serves while the scope is open. `before` is a gate in the shop's own process. */
export const make = (before?: Before): Effect.Effect<Shop, DemoFailed, Scope.Scope> => {
  const served = new Set<string>()
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { url = "/", headers } = incoming
    const visitor = headers[visitorHeader]
    if (url.startsWith("/checkout") && typeof visitor === "string") served.add(visitor)
    outgoing.writeHead(200, { "content-type": "text/html; charset=utf-8" })
    outgoing.end(`<!doctype html><title>Sneaker Shop</title><h1>Sneaker Shop</h1><p>${pageOf(url)}</p>`)
  }
  const server = createServer((incoming, outgoing) =>
    before === undefined ? answer(incoming, outgoing) : before(incoming, outgoing, answer)
  )
  const listening = Effect.callback<Shop, DemoFailed>((resume) => {
    server.once("error", ({ message }) => resume(Effect.fail(new DemoFailed({ message: `The shop: ${message}` }))))
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ port, served }))
    })
  })
  return Effect.acquireRelease(listening, () =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )
}

const pageOf = (url: string): string =>
  url.startsWith("/checkout") ? "Your basket, and the way to pay." : "All our sneakers."
