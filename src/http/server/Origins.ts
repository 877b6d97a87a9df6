/**
 * The real origin of a request: its protocol and its client's address. Headers of proxies count only if the proxy is in
 * `TRUSTED_PROXIES`.
 *
 * A proxy on this machine that is not named there, or that names no client, makes every client look like one on this
 * machine, for which there is neither HTTPS nor a gate for bots. Its headers give it away. Such clients are not local to
 * the gate, and the log, `/ready` and the dashboard warn.
 */
import { Context, Effect, Latch, Layer, Option, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import { Settings } from "../../settings/Settings.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Addresses for which the cache knows whether they are trusted. */
const rememberedMax = 1_000

/** Forwarded hops that are read, from the nearest. */
const hopsMax = 32

/** The headers that proxies add. */
const proxyHeaders = [
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-server",
  "forwarded",
  "x-real-ip",
  "via"
] as const

/** Pause between two warnings of a proxy that hides its clients. */
const warningSeconds = 60

/** How long `/ready` of the Admin API and the dashboard show it after the last such request. */
const shownSeconds = 600

const hiddenClients =
  "A proxy on this machine hides its clients, so limits, HTTPS and secure cookies do not work for them. Add its address " +
  "to TRUSTED_PROXIES, and let it send X-Forwarded-For and X-Forwarded-Proto."

/** The part of a request that tells where it comes from. */
interface Message {
  readonly socket: Socket
  readonly headers: IncomingHttpHeaders
}

export interface Origin {
  /** The client's address. It is empty if the connection is closed already. */
  readonly address: string
  /** False if it came over plain HTTP through an open network. */
  readonly isSafe: boolean
  /** True if the client uses TLS, to this process or to a trusted proxy. */
  readonly isEncrypted: boolean
  /** True for a client on this machine. False if a proxy on this machine hides its client. */
  readonly isLocal: boolean
}

/** The parts of a request that every path has: a handler that reads others is for HttpApi alone. */
export interface RequestFacts {
  /** The request as Node has it. */
  readonly source: object
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
}

/** Finds the origins of requests. */
export class Origins extends Context.Service<
  Origins,
  {
    of(request: Pick<RequestFacts, "source">): Origin
    /** The same for a request as Node has it. */
    ofMessage(message: Message): Origin
  }
>()("usher/http/server/Origins") {
  static readonly layer = Layer.effect(
    Origins,
    Effect.gen(function* () {
      const { trustedProxies } = yield* Settings
      const ofMessage = lastKept(make(trustedProxies, yield* makeWarning))
      return { ofMessage, of: ({ source }) => ofMessage(source as IncomingMessage) }
    })
  )
}

/** Makes the function that notes a request of a proxy that hides its client. */
const makeWarning = Effect.gen(function* () {
  const clock = yield* Time.serverClock
  const readiness = yield* Readiness
  const noted = Latch.makeUnsafe()
  let notedAt = -Infinity
  // Not a remark, which anybody can read.
  yield* readiness.show(
    "proxy",
    Effect.suspend(() =>
      clock.currentTimeMillisUnsafe() - notedAt < shownSeconds * 1_000
        ? Effect.succeed(hiddenClients)
        : Effect.fail("none")
    )
  )
  const warn = Effect.gen(function* () {
    yield* noted.await
    yield* Effect.logWarning(hiddenClients)
    yield* Effect.sleep(`${warningSeconds} seconds`)
    noted.closeUnsafe()
  })
  yield* Effect.forkScoped(Effect.forever(warn))
  return () => {
    notedAt = clock.currentTimeMillisUnsafe()
    noted.openUnsafe()
  }
})

/** True if a proxy has sent or passed on the request. */
export const isForwarded = ({ headers }: Pick<RequestFacts, "headers">): boolean =>
  proxyHeaders.some((name) => headers[name] !== undefined)

/** Makes the test whether an address is a trusted proxy's. */
export function isTrustedBy(trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>): (address: string) => boolean {
  const remembered = new SegmentedCache<boolean>(rememberedMax)

  return (address) => {
    const known = remembered.get(address)
    if (known !== undefined) return known
    const parsed = NetAddress.ipFromString(address)
    const trusted =
      Result.isSuccess(parsed) && trustedProxies.some((network) => IpNetwork.contains(network, parsed.success))
    remembered.set(address, trusted)
    return trusted
  }
}

/** The service, given the networks of the trusted proxies. */
function make(
  trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>,
  noteHidden: () => void
): (message: Message) => Origin {
  const isTrusted = isTrustedBy(trustedProxies)

  /** Returns whether the client runs on this machine, if no named proxy has named it. */
  const isLocalPeer = (peer: string, message: Message): boolean => {
    if (!isLoopback(peer)) return false
    const isHidden = isForwarded(message)
    if (isHidden) noteHidden()
    return !isHidden
  }

  return (message) => {
    const { socket } = message
    const peer = plain(socket.remoteAddress ?? "")
    const isEncrypted = (socket as Partial<TLSSocket>).encrypted === true
    if (trustedProxies.length === 0 || !isTrusted(peer)) {
      const isLocal = isLocalPeer(peer, message)
      return { address: peer, isEncrypted, isSafe: isEncrypted || isLoopback(peer), isLocal }
    }
    const forwardedFor = listOf(message.headers["x-forwarded-for"])
    const forwardedProtocol = listOf(message.headers["x-forwarded-proto"])
    // The proxy itself sent the request.
    if (forwardedFor.length === 0 && forwardedProtocol.length === 0)
      return { address: peer, isEncrypted, isSafe: true, isLocal: isLocalPeer(peer, message) }
    const hop = clientHop(forwardedFor, isTrusted)
    const address = hop === undefined ? peer : addressOf(forwardedFor[hop]!)!
    // The header has one protocol for each hop, or only that of the last one.
    const isAligned = hop !== undefined && forwardedProtocol.length === forwardedFor.length
    const protocol = isAligned ? forwardedProtocol[hop] : forwardedProtocol.at(-1)
    const isEncryptedThere = protocol?.toLowerCase() === "https"
    const isLocal = hop === undefined ? isLocalPeer(peer, message) : isLoopback(address)
    return { address, isEncrypted: isEncryptedThere, isSafe: isEncryptedThere || isLocal, isLocal }
  }
}

/** Keeps the last origin: the direct path, the gate and the risk of an entry ask for the same one in one turn. */
function lastKept(originOf: (message: Message) => Origin): (message: Message) => Origin {
  let last: { readonly message: Message; readonly origin: Origin } | undefined
  return (message) => {
    if (last?.message !== message) last = { message, origin: originOf(message) }
    return last.origin
  }
}

/** The address for rate limits. An IPv6 client counts by its /64. */
export function countedAddress(address: string): string {
  if (!address.includes(":")) return address
  const known = networks.get(address)
  if (known !== undefined) return known
  const parsed = NetAddress.ipv6FromString(address.split("%", 1)[0]!)
  const network = Result.isFailure(parsed)
    ? address
    : NetAddress.formatIp(IpNetwork.fromAddressUnsafe(parsed.success, 64).address)
  networks.set(address, network)
  return network
}

/** The network of a counted address: the /24 of IPv4, the /48 of IPv6. The address itself if it is neither. */
export function countedNetwork(address: string): string {
  if (!address.includes(":")) return address.slice(0, Math.max(0, address.lastIndexOf(".")))
  const parsed = NetAddress.ipv6FromString(address)
  if (Result.isFailure(parsed)) return address
  return NetAddress.formatIp(IpNetwork.fromAddressUnsafe(parsed.success, 48).address)
}

/** The networks of recent IPv6 addresses. Parsing one costs more than counting a request. */
const networks = new SegmentedCache<string>(10_000)

/** The nearest hop that is not a trusted proxy; the first hop if all are. Hops behind a malformed one are ignored. */
function clientHop(hops: ReadonlyArray<string>, isTrusted: (address: string) => boolean): number | undefined {
  let client: number | undefined
  for (let index = hops.length - 1; index >= 0; index--) {
    const address = addressOf(hops[index]!)
    if (address === undefined) return client
    client = index
    if (!isTrusted(address)) return client
  }
  return client
}

const listOf = (header: string | ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  header === undefined || header === ""
    ? []
    : String(header)
        .split(",")
        .slice(-hopsMax)
        .map((text) => text.trim())

/** The address of a hop, without its port. */
function addressOf(hop: string): string | undefined {
  const text = plain(hop.startsWith("[") && hop.endsWith("]") ? hop.slice(1, -1) : hop)
  if (Result.isSuccess(NetAddress.ipFromString(text))) return text
  return Option.getOrUndefined(
    Option.map(Result.getSuccess(NetAddress.inetAddressFromString(hop)), ({ address }) =>
      plain(NetAddress.formatIp(address))
    )
  )
}

/** The IPv4 address of a client that came through an IPv6 socket. */
export const plain = (address: string): string =>
  /^::ffff:\d/i.test(address) ? address.slice("::ffff:".length) : address

const isLoopback = (address: string): boolean => address.startsWith("127.") || address === "::1"
