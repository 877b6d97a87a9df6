/**
 * Bounds the connections from other nodes on which the handshake is not complete. Any host that reaches the port can
 * open a connection; only nodes of this database complete the handshake. A caller that opens many and stays silent
 * would take the descriptors of the process.
 *
 * A node begins its handshake at once and completes it within milliseconds. So a newcomer is never refused: it takes the
 * place of the connection that has waited longest, of the address that has most. A node could be cut only by hundreds of
 * other newcomers during its handshake, and then it tries again.
 *
 * The platform does not expose its server. Node reports every connection that a server accepts on a channel.
 */
import { Effect, Schedule, type Scope } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import type { Millis } from "../../domain/values/Time.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Connections whose handshake is not complete. A further one takes the place of another. */
export const halfOpenMax = 256

/** Milliseconds in which a connection must send its first byte. */
export const silentMillisMax = 1_000

/** Milliseconds between two looks for silent connections. */
const silentCheckMillis = 250

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
  const clock = yield* Time.serverClock
  /** By peer, the oldest first. */
  const halfOpen = new Map<string, HalfOpen>()
  let closed = 0

  const close = (peer: string, { socket }: HalfOpen) => {
    closed++
    halfOpen.delete(peer)
    socket.destroy()
  }

  const accept = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket }
    if (socket.localPort !== port) return
    if (halfOpen.size >= halfOpenMax) close(...oldestOfMost(halfOpen))
    const peer = peerOf(socket)
    const entry = { socket, address: socket.remoteAddress ?? "", since: clock.currentTimeMillisUnsafe() }
    halfOpen.set(peer, entry)
    socket.once("close", () => {
      if (halfOpen.get(peer) === entry) halfOpen.delete(peer)
    })
  }

  yield* Effect.acquireRelease(
    Effect.sync(() => subscribe("net.server.socket", accept)),
    () => Effect.sync(() => unsubscribe("net.server.socket", accept))
  )
  const cutSilent = Effect.sync(() => {
    const before = clock.currentTimeMillisUnsafe() - silentMillisMax
    for (const [peer, entry] of halfOpen) {
      if (entry.since > before) return
      if (entry.socket.bytesRead === 0) close(peer, entry)
    }
  })
  yield* Effect.forkScoped(Effect.repeat(cutSilent, Schedule.spaced(silentCheckMillis)))
  const report = Effect.suspend(() => {
    const count = closed
    closed = 0
    if (count === 0) return Effect.void
    return Effect.logWarning(
      `${count} connections to CLUSTER_PORT were closed: they were silent, or had not completed their handshake ` +
        `when more than ${halfOpenMax} were open`
    )
  })
  yield* Effect.forkScoped(Effect.repeat(report, Schedule.spaced(logMillis)))
  return { completed: (socket) => void halfOpen.delete(peerOf(socket)) }
})

interface HalfOpen {
  readonly socket: Socket
  readonly address: string
  readonly since: Millis
}

/** Returns the oldest connection of the address that has most. */
const oldestOfMost = (halfOpen: ReadonlyMap<string, HalfOpen>): readonly [peer: string, entry: HalfOpen] => {
  const oldest = new Map<string, { readonly first: readonly [string, HalfOpen]; count: number }>()
  for (const first of halfOpen) {
    const known = oldest.get(first[1].address)
    if (known === undefined) oldest.set(first[1].address, { first, count: 1 })
    else known.count++
  }
  return [...oldest.values()].reduce((most, one) => (one.count > most.count ? one : most)).first
}

const peerOf = ({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string =>
  `${remoteAddress} ${remotePort}`
