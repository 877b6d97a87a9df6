/**
 * Bounds the connections of a listener: their number, the number from one address, and the time in which one may be
 * silent. Without these bounds a caller that opens connections and sends nothing takes all descriptors of the process.
 *
 * When the listener is full, a new connection replaces the one that has waited longest without a complete request. If
 * none waits, an idle connection is replaced. So new callers get in while an attacker holds connections open. Trusted
 * proxies share their connections among many clients, so they have no limit by address. An IPv6 client counts by its
 * /64.
 */
import { Effect, Schedule } from "effect"
import { readFile } from "node:fs/promises"
import type { IncomingMessage, Server } from "node:http"
import { Server as SecureServer } from "node:https"
import type { Socket } from "node:net"
import type { Millis } from "../../domain/values/Time.ts"
import type { Api } from "../limits/Limit.ts"
import { Settings } from "../../settings/Settings.ts"
import { countedAddress, isTrustedBy, plain } from "../server/Origins.ts"
import { annotated } from "../../measures/StateChange.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Milliseconds in which a new connection must send its first byte. */
const silentMillisMax = 5_000

/** The least milliseconds between two closings of idle connections. */
const idleClosingMillis = 500

/** Connections of the Admin API. Its callers are the servers of organizations. */
const adminConnectionsMax = 5_000

/** The share of the process's descriptors for each API. The rest is for the database, files and other nodes. */
const descriptorShares = { consumer: 0.7, admin: 0.15 } as const

/** Descriptors of a process, where the system does not say. */
const usualDescriptors = 1_024

/** Milliseconds between two log entries about refused connections. */
const logMillis = 10_000

/** The reasons for which connections are cut. */
type Reason = "total" | "address" | "silent" | "waiting"

const meanings: { readonly [Name in Reason]: string } = {
  total: "were refused, because all connections are in use (CONNECTIONS_MAX, or the limit of open files)",
  address: "were refused, because their address has its maximum of connections (CONNECTIONS_PER_ADDRESS)",
  silent: "were closed, because they sent nothing",
  waiting: "without a complete request made room for others, because all are taken (CONNECTIONS_MAX)"
}

/** Guards a listener. Sockets of every kind arrive with its event `connection`. */
export const guard = Effect.fnUntraced(function* (server: Server, api: Api) {
  const { connectionsMax, connectionsPerAddress, trustedProxies } = yield* Settings
  const clock = yield* Time.serverClock
  const descriptors = yield* descriptorsMax
  const totalMax = Math.max(
    16,
    Math.min(api === "admin" ? adminConnectionsMax : connectionsMax, Math.floor(descriptors * descriptorShares[api]))
  )
  const isTrusted = isTrustedBy(trustedProxies)
  const connections = new Connections({
    totalMax,
    perAddressMax: connectionsPerAddress,
    now: () => clock.currentTimeMillisUnsafe(),
    addressOf: (socket) => {
      const peer = plain(socket.remoteAddress ?? "")
      return isTrusted(peer) ? undefined : countedAddress(peer)
    },
    closeIdle: () => server.closeIdleConnections(),
    isEncrypted: server instanceof SecureServer
  })
  server.prependListener("connection", (socket: Socket) => connections.accept(socket))
  server.prependListener("request", ({ socket }: IncomingMessage) => connections.completed(socket))
  yield* Effect.sync(() => connections.cutSilent()).pipe(Effect.repeat(Schedule.spaced("1 second")), Effect.forkScoped)
  const report = Effect.suspend(() => {
    const cut = connections.takeReport()
    if (cut.length === 0) return Effect.void
    const sentences = cut.map(([reason, count]) => `${count} connections ${meanings[reason]}`)
    const line = `${api === "admin" ? "Admin" : "Consumer"} API: ${sentences.join("; ")}`
    return annotated("connections.cut")(Effect.logWarning(line))
  })
  yield* Effect.forkScoped(Effect.repeat(report, Schedule.spaced(logMillis)))
})

/** The connections of one listener. */
export class Connections {
  private readonly options: {
    readonly totalMax: number
    readonly perAddressMax: number
    readonly now: () => Millis
    /** The address that a socket counts for; undefined if it has no limit. */
    readonly addressOf: (socket: Socket) => string | undefined
    readonly closeIdle: () => void
    /** True if requests arrive on other sockets than connections. Then the first byte counts as a request. */
    readonly isEncrypted: boolean
  }
  private total = 0
  private readonly byAddress = new Map<string, number>()
  /** Connections without a complete request, the oldest first, with their beginning. */
  private readonly waiting = new Map<Socket, Millis>()
  private readonly cut = new Map<Reason, number>()
  private idleClosedAt: Millis = 0

  constructor(options: Connections["options"]) {
    this.options = options
  }

  /** Counts a new connection, or cuts it. */
  accept(socket: Socket): void {
    const address = this.options.addressOf(socket)
    const ofAddress = address === undefined ? 0 : (this.byAddress.get(address) ?? 0)
    if (address !== undefined && ofAddress >= this.options.perAddressMax) return this.destroy(socket, "address")
    if (this.total >= this.options.totalMax && !this.makeRoom()) return this.destroy(socket, "total")
    this.total++
    if (address !== undefined) this.byAddress.set(address, ofAddress + 1)
    this.waiting.set(socket, this.options.now())
    socket.once("close", () => this.forget(socket, address))
  }

  /** Cuts the connections that have been silent for too long. */
  cutSilent(): void {
    const now = this.options.now()
    for (const [socket, since] of this.waiting) {
      if (now - since < silentMillisMax) return
      if (socket.bytesRead === 0) this.destroy(socket, "silent")
      else if (this.options.isEncrypted) this.waiting.delete(socket)
    }
  }

  /** Notes that a request has arrived on the socket. Called for every request. */
  completed(socket: Socket): void {
    if (this.waiting.size > 0) this.waiting.delete(socket)
  }

  /** The connections cut since the last report. */
  takeReport(): ReadonlyArray<readonly [Reason, number]> {
    const report = [...this.cut]
    this.cut.clear()
    return report
  }

  /**
   * Cuts the connection that has waited longest. If none waits, closes idle ones, for the next connections. A client
   * sends its request as soon as it is connected, so one that waits is hardly ever a shopper.
   */
  private makeRoom(): boolean {
    for (const socket of this.waiting.keys()) {
      if (socket.bytesRead > 0 && this.options.isEncrypted) this.waiting.delete(socket)
      else {
        this.destroy(socket, "waiting")
        return true
      }
    }
    const now = this.options.now()
    if (now - this.idleClosedAt >= idleClosingMillis) {
      this.idleClosedAt = now
      this.options.closeIdle()
    }
    return false
  }

  private destroy(socket: Socket, reason: Reason): void {
    this.cut.set(reason, (this.cut.get(reason) ?? 0) + 1)
    this.waiting.delete(socket)
    socket.destroy()
  }

  private forget(socket: Socket, address: string | undefined): void {
    this.total--
    this.waiting.delete(socket)
    if (address === undefined) return
    const left = (this.byAddress.get(address) ?? 1) - 1
    if (left === 0) this.byAddress.delete(address)
    else this.byAddress.set(address, left)
  }
}

/** The descriptors that this process may open. */
const descriptorsMax = Effect.tryPromise(() => readFile("/proc/self/limits", "utf8")).pipe(
  Effect.map((text) => {
    const found = /^Max open files\s+(\d+|unlimited)/m.exec(text)?.[1]
    return found === "unlimited" ? Number.POSITIVE_INFINITY : Number(found ?? usualDescriptors)
  }),
  Effect.orElseSucceed(() => usualDescriptors)
)
