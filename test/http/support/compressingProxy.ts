/** A proxy that compresses text, as long as the origin allows a change (RFC 9111, 5.2.2.6). */
import { Effect } from "effect"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { createBrotliCompress, createDeflate, createGzip } from "node:zlib"

const coders = { gzip: createGzip, deflate: createDeflate, br: createBrotliCompress }

/** The content codings of the proxy. */
export const codings = Object.keys(coders) as ReadonlyArray<keyof typeof coders>

/** Starts the proxy in front of an origin. Returns its URL. */
export const compressingProxy = (origin: string, coding: keyof typeof coders) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const proxy = createServer((incoming, outgoing) => {
        const { method, headers } = incoming
        const passed = request(new URL(incoming.url!, origin), { method, headers }, (answer) => {
          const { "cache-control": cacheControl = "", "content-type": contentType = "" } = answer.headers
          const compresses = !cacheControl.includes("no-transform") && contentType.startsWith("text/")
          outgoing.writeHead(answer.statusCode!, {
            ...answer.headers,
            ...(compresses && { "content-encoding": coding })
          })
          outgoing.flushHeaders()
          if (compresses) answer.pipe(coders[coding]()).pipe(outgoing)
          else answer.pipe(outgoing)
          outgoing.on("close", () => passed.destroy())
        })
        passed.on("error", () => outgoing.destroy())
        incoming.pipe(passed)
      })
      proxy.listen(0, "127.0.0.1", () => {
        const close = () => {
          proxy.closeAllConnections()
          proxy.close()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ url }) => url))
