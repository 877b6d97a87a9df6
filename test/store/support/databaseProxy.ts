/**
 * A way to the database that can fall silent: it goes on taking connections and what is sent on them, and nothing comes
 * back, as from a server that was stopped.
 */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

export interface DatabaseProxy {
  /** The database's address by this way. */
  readonly url: string
  isSilent: boolean
  /** The connections that are open. */
  readonly connections: ReadonlySet<Socket>
  /** Cuts them all. */
  readonly cut: Effect.Effect<void>
}

/** A way to the database at `url`, until the scope closes. */
export const databaseProxy = Effect.fnUntraced(function* (url: string) {
  const { hostname, port } = new URL(url)
  const connections = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port || 5432), hostname)
    // What is sent meanwhile comes to the server when it goes on.
    const held: Array<Buffer> = []
    connections.add(client)
    client.on("data", (data) => {
      if (proxy.isSilent) return void held.push(data)
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
    connections,
    cut: Effect.sync(() => connections.forEach((socket) => socket.destroy()))
  }
  return proxy
})
