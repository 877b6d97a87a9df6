/** The consumer's listener with a test's routes, and its log output. For behavior that all responses share. */
import { Context, Effect, Layer, Logger } from "effect"
import type { HttpRouter } from "effect/http"
import { subscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import { networkInterfaces } from "node:os"
import { Readiness } from "../../../src/engine/lifecycle/Readiness.ts"
import * as Server from "../../../src/http/server/Server.ts"
import { Settings } from "../../../src/settings/Settings.ts"

/** The log output: each entry's message and annotations, as one text. */
export class Logged extends Context.Service<Logged, Array<string>>()("usher/test/http/Logged") {}

const logged = Layer.unwrap(
  Effect.sync(() => {
    const lines: Array<string> = []
    return Layer.merge(
      Layer.succeed(Logged, lines),
      Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
    )
  })
)

/** Both listeners, the consumer's with these routes. */
export const layerWith = <R = HttpRouter.HttpRouter | Readiness>(
  consumer: Layer.Layer<never, never, R>,
  settings: Parameters<typeof Settings.layerTest>[0] = {}
) =>
  Server.layer({ consumer, admin: Layer.empty }).pipe(
    Layer.provideMerge(Readiness.layer),
    Layer.provideMerge(Settings.layerTest({ consumerPort: 0, adminPort: 0, shutdownTimeoutSeconds: 2, ...settings })),
    Layer.provideMerge(logged)
  )

/** An address of this machine that is not loopback; undefined if there is none. */
export const openAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, address }) => family === "IPv4" && !address.startsWith("127."))?.address

/**
 * The address under which a listener takes clients from outside. A machine that has loopback alone has none, so clients
 * of 127.0.0.2 count as such there.
 */
export const outsideAddress = openAddress ?? "127.0.0.2"

if (openAddress === undefined) {
  subscribe("net.server.socket", (message) => {
    const { socket } = message as { readonly socket: Socket }
    if (socket.localAddress === outsideAddress) Object.defineProperty(socket, "remoteAddress", { value: "192.0.2.2" })
  })
}
