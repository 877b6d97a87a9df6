/**
 * The connections between nodes: TLS with a pre-shared key (RFC 5489) that all nodes derive from their database's
 * secret alone. So no third party can read or send messages, and nodes of two databases cannot connect to each other,
 * whatever addresses they were given.
 *
 * In the handshake each side names its release: the client in its identity, the server in its hint. Releases whose
 * ranges do not overlap do not connect.
 *
 * Nagle's algorithm is off. With it, small messages wait for earlier acknowledgements, and throughput falls from
 * thousands to 400 questions a second.
 */
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import { Data, Effect, Layer, Schedule } from "effect"
import { type RunnerAddress, Runners } from "effect/cluster"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { Socket, SocketServer } from "effect/socket"
import { createHmac } from "node:crypto"
import { connect as connectTls, type PSKCallbackNegotation, type TlsOptions } from "node:tls"
import * as HalfOpenConnections from "./HalfOpenConnections.ts"
import { conflictOf, type Release } from "../../domain/values/Release.ts"
import { StartRefused } from "../../settings/Settings.ts"

/** A node that does not accept a connection, or is silent on one, for this long counts as gone. */
const connectMillis = 1_000
const silenceMillis = 2_000

/** Time between two attempts to reconnect to a node. */
const reconnectMillis = 250

/** Milliseconds in which another node must complete its handshake. */
const handshakeMillis = 5_000

/** Bytes of one message at most: an answer with some hundred thousand places. */
const messageBytesMax = 67_108_864

export interface Identity {
  /** The secret of the database. */
  readonly secret: Uint8Array
  readonly release: Release
}

/** The TLS options that both ends of a connection share. */
const sharedOptions = {
  ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
  // Node supports pre-shared keys without certificates only in TLS 1.2.
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.2",
  noDelay: true
} as const

const keyOf = ({ secret }: Identity) => createHmac("sha256", secret).update("usher-nodes").digest()

/** Writes the ranges of a release as the handshake carries them: `usher protocol=1-1 level=1-1 schema=1-1`. */
export const announce = (release: Release): string =>
  ["usher", ...rangeNames.map((name) => `${name}=${release[name].join("-")}`)].join(" ")

/** Returns why the announced release and this one do not work together. Unknown words are ignored. */
const conflictWith = (release: Release, announced: string | null): string | undefined => {
  const words = (announced ?? "").split(" ")
  const ranges = rangeNames.flatMap((name) => {
    const found = words.flatMap((word) => /^(\w+)=(\d{1,9})-(\d{1,9})$/.exec(word) ?? [])
    const at = found.indexOf(name)
    return at < 0 ? [] : [[name, [Number(found[at + 1]), Number(found[at + 2])]] as const]
  })
  if (words[0] !== "usher" || ranges.length < rangeNames.length) return "it does not name its release"
  return conflictOf(release, Object.fromEntries(ranges) as unknown as Release)
}

const rangeNames = ["protocol", "level", "schema"] as const

/** Listens for other nodes. */
export const layerServer = (identity: Identity, address: RunnerAddress.RunnerAddress) => {
  const key = keyOf(identity)
  return Layer.effect(
    SocketServer.SocketServer,
    Effect.gen(function* () {
      const halfOpen = yield* HalfOpenConnections.bounded(address.port)
      const options: TlsOptions = {
        ...sharedOptions,
        handshakeTimeout: handshakeMillis,
        pskIdentityHint: announce(identity.release),
        pskCallback: (socket, announced) => {
          if (conflictWith(identity.release, announced) !== undefined) return null
          socket.once("secure", () => halfOpen.completed(socket))
          return key
        }
      }
      return yield* Effect.mapError(
        NodeSocketServer.makeTls({ ...options, host: address.host, port: address.port }),
        ({ reason }) => listenRefusal(address, reason.cause as ListenFailure)
      )
    })
  )
}

interface ListenFailure {
  readonly code?: string
  readonly message: string
}

/** Returns the reason why a node cannot listen, with the remedy for the operator. */
const listenRefusal = ({ host, port }: RunnerAddress.RunnerAddress, { code, message }: ListenFailure): StartRefused => {
  const wrongAddress = `CLUSTER_HOST: ${host} is not an address of this machine at which other nodes could reach it.`
  const problems: { readonly [code: string]: string } = {
    EADDRINUSE: `CLUSTER_PORT: port ${port} of ${host} is taken by another process. Give each node on a machine its own port.`,
    EACCES: `CLUSTER_PORT: this user may not listen on port ${port}. Set CLUSTER_PORT to a port above 1023.`,
    EADDRNOTAVAIL: wrongAddress,
    ENOTFOUND: wrongAddress
  }
  return new StartRefused({
    message: problems[code ?? ""] ?? `This node cannot listen for others on ${host}, port ${port}: ${message}`
  })
}

/** Connects to other nodes. */
export const layerClient = (identity: Identity) =>
  Layer.effect(
    Runners.RpcClientProtocol,
    Effect.gen(function* () {
      const serialization = yield* RpcSerialization.RpcSerialization
      return {
        codecFor: serialization.codecFor,
        make: Effect.fnUntraced(function* (address: RunnerAddress.RunnerAddress) {
          const socket = yield* connect(identity, address)
          return yield* RpcClient.makeProtocolSocket({
            pingInterval: silenceMillis / 2,
            pingTimeout: silenceMillis,
            retryPolicy: Schedule.spaced(reconnectMillis)
          }).pipe(
            Effect.provideService(Socket.Socket, socket),
            Effect.provideService(RpcSerialization.RpcSerialization, serialization)
          )
        })
      }
    })
  )

/** The encoding of messages. */
export const layerSerialization = RpcSerialization.layerSchemaBinary({ maxFrameSize: messageBytesMax })

/** Another node could not be reached. `reason` says why; it is `stranger` if the other side does not have the key. */
export class Unreached extends Data.TaggedError("Unreached")<{ readonly reason: string }> {}

/** Connects to another node once, to test the connection. */
export const probe = (
  identity: Identity,
  { host, port }: RunnerAddress.RunnerAddress
): Effect.Effect<void, Unreached> =>
  Effect.callback<void, Unreached>((resume) => {
    const fail = (reason: string) => resume(Effect.fail(new Unreached({ reason })))
    let isConnected = false
    const options = clientOptions(identity, (conflict) => fail(`its release does not work with this one: ${conflict}`))
    const socket = connectTls({ ...options, host, port, timeout: connectMillis })
    socket.once("connect", () => (isConnected = true))
    socket.once("secureConnect", () => resume(Effect.void))
    socket.once("timeout", () => fail(`no answer within ${connectMillis} ms`))
    socket.once("error", (error) => fail(isConnected ? "stranger" : error.message))
    socket.once("close", () => fail("stranger"))
    return Effect.sync(() => socket.destroy())
  }).pipe(
    Effect.timeoutOrElse({
      duration: 2 * connectMillis,
      orElse: () => Effect.fail(new Unreached({ reason: "no answer" }))
    })
  )

/** Opens a connection to another node on first use. */
const connect = (identity: Identity, { host, port }: RunnerAddress.RunnerAddress) =>
  NodeSocket.makeTls({
    ...clientOptions(identity),
    host,
    port,
    openTimeout: connectMillis,
    chunkSize: Number.POSITIVE_INFINITY
  })

const clientOptions = (identity: Identity, onConflict?: (conflict: string) => void) => {
  const key = keyOf(identity)
  return {
    ...sharedOptions,
    pskCallback: (hint: string | null): PSKCallbackNegotation | null => {
      const conflict = conflictWith(identity.release, hint)
      if (conflict === undefined) return { psk: key, identity: announce(identity.release) }
      onConflict?.(conflict)
      return null
    },
    // The key alone authenticates the other side.
    checkServerIdentity: () => undefined
  }
}
