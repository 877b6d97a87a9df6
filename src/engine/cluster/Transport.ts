/**
 * How nodes talk: TLS with a key that all nodes of one database have from it (pre-shared, RFC 5489). So nobody else
 * understands or says anything, and nodes of two databases, or of two versions of its schema, do not take each other for
 * one another, whatever addresses they were given.
 *
 * A packet leaves at once: with Nagle's algorithm small questions wait for the acknowledgements of the ones before, and
 * there are 400 a second instead of thousands.
 */
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import { Data, Effect, Layer, Schedule } from "effect"
import { type RunnerAddress, Runners } from "effect/cluster"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { Socket, SocketServer } from "effect/socket"
import { createHmac } from "node:crypto"
import { connect as connectTls, type PSKCallbackNegotation, type TlsOptions } from "node:tls"
import { StartRefused } from "../../settings/Settings.ts"

/** A node that does not take a connection, or does not say anything on one, for so long is gone. */
const connectMillis = 1_000
const silenceMillis = 2_000

/** Between two attempts to reach a node that was lost. */
const reconnectMillis = 250

/** Bytes of one message at most: some hundred thousand places of an answer. */
const messageBytesMax = 67_108_864

export interface Identity {
  /** The secret of the database. */
  readonly secret: Uint8Array
  /** The step of its schema that this program knows. */
  readonly schemaStep: number
}

/** What both ends of a connection agree on. */
const tlsOptions = ({ secret, schemaStep }: Identity) => {
  const identity = `usher-schema-${schemaStep}`
  const key = createHmac("sha256", secret).update(identity).digest()
  return {
    identity,
    key,
    options: {
      ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
      // Keys that are shared beforehand without certificates are a matter of TLS 1.2 in Node.
      minVersion: "TLSv1.2",
      maxVersion: "TLSv1.2",
      noDelay: true
    }
  } as const
}

/** Listens for other nodes. */
export const layerServer = (identity: Identity, address: RunnerAddress.RunnerAddress) => {
  const own = tlsOptions(identity)
  const options: TlsOptions = {
    ...own.options,
    pskCallback: (_socket, name) => (name === own.identity ? own.key : null)
  }
  return Layer.effect(
    SocketServer.SocketServer,
    Effect.mapError(NodeSocketServer.makeTls({ ...options, host: address.host, port: address.port }), ({ reason }) =>
      notListening(address, reason.cause as ListenFailure)
    )
  )
}

interface ListenFailure {
  readonly code?: string
  readonly message: string
}

/** Why a node cannot listen for the others, and what to do about it. */
const notListening = ({ host, port }: RunnerAddress.RunnerAddress, { code, message }: ListenFailure): StartRefused => {
  const notOurs = `CLUSTER_HOST: ${host} is not an address of this machine at which other nodes could reach it.`
  const problems: { readonly [code: string]: string } = {
    EADDRINUSE: `CLUSTER_PORT: port ${port} of ${host} is taken by another process. Give each node on a machine its own port.`,
    EACCES: `CLUSTER_PORT: this user may not listen on port ${port}. Set CLUSTER_PORT to a port above 1023.`,
    EADDRNOTAVAIL: notOurs,
    ENOTFOUND: notOurs
  }
  return new StartRefused({
    message: problems[code ?? ""] ?? `This node cannot listen for others on ${host}, port ${port}: ${message}`
  })
}

/** Reaches other nodes. */
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

/** How messages are written. */
export const layerSerialization = RpcSerialization.layerSchemaBinary({ maxFrameSize: messageBytesMax })

/** A node that was not reached: what went wrong, or `stranger` if it does not have the key. */
export class Unreached extends Data.TaggedError("Unreached")<{ readonly reason: string }> {}

/** Reaches another node once, to see whether that is possible. */
export const probe = (
  identity: Identity,
  { host, port }: RunnerAddress.RunnerAddress
): Effect.Effect<void, Unreached> =>
  Effect.callback<void, Unreached>((resume) => {
    const fail = (reason: string) => resume(Effect.fail(new Unreached({ reason })))
    let isConnected = false
    const socket = connectTls({ ...clientOptions(identity), host, port, timeout: connectMillis })
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

/** A connection to another node, opened when it is used. */
const connect = (identity: Identity, { host, port }: RunnerAddress.RunnerAddress) =>
  NodeSocket.makeTls({
    ...clientOptions(identity),
    host,
    port,
    openTimeout: connectMillis,
    chunkSize: Number.POSITIVE_INFINITY
  })

const clientOptions = (identity: Identity) => {
  const own = tlsOptions(identity)
  return {
    ...own.options,
    pskCallback: (): PSKCallbackNegotation => ({ psk: own.key, identity: own.identity }),
    // The key alone tells who the other is.
    checkServerIdentity: () => undefined
  }
}
