/**
 * Bounds the connections from other nodes on which the handshake is not complete. Any host that reaches the port can
 * open a connection; only nodes of this database complete the handshake. A caller that opens many and stays silent
 * would take the descriptors of the process.
 *
 * The platform does not expose its server. Node reports every connection that a server accepts on a channel.
 */
import { Effect, Schedule, type Scope } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"

/** Connections whose handshake is not complete. More are closed at once. Each node opens one to each other node. */
export const halfOpenMax = 256

/** Milliseconds between two log entries about closed connections. */
const logMillis = 10_000

export interface HalfOpenConnections {
  /** Counts the connection as complete. Called with its socket when the handshake is complete. */
  completed(socket: Pick<Socket, "remoteAddress" | "remotePort">): void
}

/** Bounds the connections that arrive at a port, for as long as the scope. */
export const bounded = Effect.fnUntraced(function* (
  port: number
): Effect.fn.Return<HalfOpenConnections, never, Scope.Scope> {
  const halfOpen = new Set<string>()
  let closed = 0

  const accept = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket }
    if (socket.localPort !== port) return
    if (halfOpen.size >= halfOpenMax) {
      closed++
      socket.destroy()
      return
    }
    const peer = peerOf(socket)
    halfOpen.add(peer)
    socket.once("close", () => halfOpen.delete(peer))
  }

  yield* Effect.acquireRelease(
    Effect.sync(() => subscribe("net.server.socket", accept)),
    () => Effect.sync(() => unsubscribe("net.server.socket", accept))
  )
  const report = Effect.suspend(() => {
    const count = closed
    closed = 0
    if (count === 0) return Effect.void
    return Effect.logWarning(`${count} connections to CLUSTER_PORT were closed: ${halfOpenMax} others are not complete`)
  })
  yield* Effect.forkScoped(Effect.repeat(report, Schedule.spaced(logMillis)))
  return { completed: (socket) => void halfOpen.delete(peerOf(socket)) }
})

const peerOf = ({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string =>
  `${remoteAddress} ${remotePort}`
