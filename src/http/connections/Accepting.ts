/**
 * Accepting connections. For each listening socket, a process accepts one connection in a turn of its event loop. While
 * hundreds of connections are busy, a turn is long, and newcomers would wait for seconds behind each other. So the
 * process listens on several sockets on one port, and the system spreads newcomers over them.
 *
 * Sockets that share a port would also share it with another process. The port is first bound without sharing, so a
 * port in use prevents the start. Systems that cannot share ports have one socket. Processes of one supervisor share their
 * ports on purpose: the supervisor has tried the ports before.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect } from "effect"
import { HttpServerError } from "effect/http"
import type { Server as HttpServer } from "node:http"
import { type AddressInfo, createServer, type ListenOptions, Server as NetServer } from "node:net"
import { Server as TlsServer } from "node:tls"

/** Listening sockets of one listener. */
const socketsMax = 32

/** Connections that the operating system queues for each socket until they are accepted. */
const backlog = 4_096

/** A listener that has its port. */
export type Bound = Effect.Success<ReturnType<typeof bind>>

/**
 * Binds the port on the first socket. Fails if the port is in use, unless processes share it (`isShared`).
 */
export const bind = Effect.fnUntraced(function* (options: {
  readonly create: () => HttpServer
  readonly host: string
  readonly port: number
  readonly isShared: boolean
}) {
  const { create, host, port, isShared } = options
  // The system never assigns a port in use.
  if (port !== 0 && !isShared) yield* tryPort({ host, port })
  const open = Effect.fnUntraced(function* (reusePort: boolean) {
    const nodeServer = create()
    const options = { host, port, backlog, reusePort, disablePreemptiveShutdown: true }
    return { nodeServer, server: yield* NodeHttpServer.make(() => nodeServer, options), reusePort }
  })
  const { nodeServer, server, reusePort } = yield* Effect.catch(open(true), (error) =>
    cannotShare(error) ? open(false) : Effect.fail(error)
  )
  const others: Array<NetServer> = []

  /** Listens on the other sockets. Their connections belong to the first server. */
  const acceptMore = Effect.gen(function* () {
    if (!reusePort) return
    const { port } = nodeServer.address() as AddressInfo
    const allowHalfOpen = !(nodeServer instanceof TlsServer)
    while (others.length < socketsMax - 1) {
      const other = createServer({ noDelay: true, allowHalfOpen }, (socket) => nodeServer.emit("connection", socket))
      yield* listening(other, { host, port, backlog, reusePort })
      others.push(other)
    }
  })

  /** Accepts no more connections. Those that are open stay, also idle ones, on which a request may be on its way. */
  const acceptNone = Effect.sync(() => {
    // The method of the HTTP server would close idle connections.
    for (const one of [nodeServer, ...others]) NetServer.prototype.close.call(one)
  })

  /** Closes idle connections. Returns when all connections have ended. */
  const close = Effect.callback<void>((resume) => {
    const servers = [nodeServer, ...others]
    let open = servers.length
    for (const one of servers) one.close(() => --open === 0 && resume(Effect.void))
  })

  return { nodeServer, server, acceptMore, acceptNone, close }
})

/**
 * Binds a port once without sharing, and gives it up. Returns the port, which the system assigns for 0. Fails if it is in
 * use. A client that connects meanwhile is cut: its connection would delay the end.
 */
export const tryPort = (options: { readonly host: string; readonly port: number }) =>
  listening(
    createServer((socket) => socket.destroy()),
    options
  ).pipe(
    Effect.map((server) => (server.address() as AddressInfo).port),
    Effect.scoped
  )

/** True if several processes can listen on one port of the address. Fails if it cannot be listened on at all. */
export const canShare = (host: string) =>
  listening(createServer(), { host, port: 0, reusePort: true }).pipe(
    Effect.as(true),
    Effect.scoped,
    Effect.catch((error) => (cannotShare(error) ? Effect.succeed(false) : Effect.fail(error)))
  )

/** Listens while the scope lives. */
const listening = (server: NetServer, options: ListenOptions) =>
  Effect.acquireRelease(
    Effect.callback<NetServer, HttpServerError.ServeError>((resume) => {
      server.once("error", (cause) => resume(Effect.fail(new HttpServerError.ServeError({ cause }))))
      server.listen(options, () => resume(Effect.succeed(server)))
    }),
    () =>
      Effect.callback<void>((resume) => {
        if (server.listening) server.close(() => resume(Effect.void))
        else resume(Effect.void)
      })
  )

const cannotShare = ({ cause }: HttpServerError.ServeError): boolean =>
  (cause as NodeJS.ErrnoException).code === "ENOTSUP"
