/** A proxy in front of a server that loses answers, cuts connections and refuses requests. */
import { Effect } from "effect"
import { createServer, request } from "node:http"
import type { AddressInfo, Socket } from "node:net"

export const proxied = (upstream: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const seen: Array<string> = []
      const sockets = new Set<Socket>()
      let lost: string | undefined
      let onLost = () => {}
      let refused: RegExp | undefined
      const server = createServer((incoming, outgoing) => {
        const line = `${incoming.method} ${incoming.url}`
        seen.push(line)
        if (refused?.test(incoming.url!)) return incoming.socket.destroy()
        const { method, headers } = incoming
        const forwarded = request(new URL(incoming.url!, upstream), { method, headers, agent: false }, (answer) => {
          if (line === lost) {
            lost = undefined
            answer.resume()
            return answer.on("end", () => {
              incoming.socket.destroy()
              refused = /./
              onLost()
            })
          }
          outgoing.writeHead(answer.statusCode!, answer.headers)
          return answer.pipe(outgoing)
        })
        forwarded.on("error", () => outgoing.destroy())
        outgoing.on("close", () => forwarded.destroy())
        return incoming.pipe(forwarded)
      })
      server.on("connection", (socket) => {
        sockets.add(socket)
        socket.on("close", () => sockets.delete(socket))
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return {
        server,
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        /** The requests, as `GET /path`. */
        seen,
        /** Ends all connections now. */
        cut: () => sockets.forEach((socket) => socket.destroy()),
        /** Ends the connections of requests to such paths, until it is called with undefined. */
        refuse: (path: RegExp | undefined) => void (refused = path),
        /** The next such request is done, but not answered, and nothing after it gets through. */
        loseAnswerTo: (line: string) => void (lost = line),
        onLost: (called: () => void) => void (onLost = called)
      }
    }),
    ({ server, cut }) =>
      Effect.promise(() => {
        const closed = new Promise((resolve) => server.close(resolve))
        cut()
        return closed
      })
  )
