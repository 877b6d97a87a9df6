/**
 * A proxy in front of the database that can fall silent, like a server that was stopped. While silent it accepts
 * connections and requests, and returns nothing.
 */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

export interface DatabaseProxy {
  /** The database's address through the proxy. */
  readonly url: string
  isSilent: boolean
  /** The first connection that sends this text gets no answer to it, nor to what follows. */
  unanswered: string | undefined
  /** The number of open connections. */
  readonly connections: ReadonlySet<Socket>
  /** Cuts all connections. */
  readonly cut: Effect.Effect<void>
}

/** Starts a proxy in front of the database at `url`, until the scope closes. */
export const databaseProxy = Effect.fnUntraced(function* (url: string) {
  const { hostname, port } = new URL(url)
  const connections = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port || 5432), hostname)
    // Requests that arrive meanwhile reach the server when the proxy continues.
    const held: Array<Buffer> = []
    connections.add(client)
    let isMute = false
    client.on("data", (data) => {
      if (proxy.unanswered !== undefined && data.includes(proxy.unanswered)) {
        proxy.unanswered = undefined
        isMute = true
      }
      if (isMute || proxy.isSilent) return void held.push(data)
      for (const earlier of held.splice(0)) upstream.write(earlier)
      upstream.write(data)
    })
    upstream.on("data", (data) => void client.write(data))
    client.on("close", () => {
      connections.delete(client)
      upstream.destroy()
    })
    upstream.on("close", () => client.destroy())
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy())
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        for (const socket of connections) socket.destroy()
        server.close()
      })
  )
  const through = new URL(url)
  through.host = `127.0.0.1:${(server.address() as { readonly port: number }).port}`
  const proxy: DatabaseProxy = {
    url: through.href,
    isSilent: false,
    unanswered: undefined,
    connections,
    cut: Effect.sync(() => connections.forEach((socket) => socket.destroy()))
  }
  return proxy
})
