/** Newcomers among busy connections, and the port as the process's own. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { createServer, connect, type AddressInfo, type Socket } from "node:net"
import * as Server from "../../../src/http/server/Server.ts"
import { layerWith } from "../support/listenerFixture.ts"

const busyMax = 256

let requests = 0

const work = Effect.sync(() => {
  requests++
  return HttpServerResponse.text("done")
})

const request = "GET /work HTTP/1.1\r\nHost: x\r\n\r\n"

/** Sends the next request when the last one is answered. `answered` is called after the first answer. */
const keepBusy = (url: string, answered: () => void): Socket => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname, () => socket.write(request))
  let isFirst = true
  socket.on("error", () => {})
  socket.on("data", () => {
    if (isFirst) answered()
    isFirst = false
    socket.write(request)
  })
  return socket
}

layer(layerWith(HttpRouter.add("GET", "/work", work)), { excludeTestServices: true })("A newcomer", (it) => {
  it.effect("is served within a few turns, while 256 connections are busy", () =>
    Effect.gen(function* () {
      const { consumerUrl } = yield* Server.Listeners
      const sockets: Array<Socket> = []
      const allAnswered = Effect.callback<void>((resume) => {
        let missing = busyMax
        const answered = () => --missing === 0 && resume(Effect.void)
        for (let index = 0; index < busyMax; index++) sockets.push(keepBusy(consumerUrl, answered))
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => sockets.forEach((socket) => socket.destroy())))
      yield* allAnswered
      // On one socket, the last one is accepted after 256² / 2 requests of the others: 32,768.
      assert.isBelow(requests, 40 * busyMax)
    }).pipe(Effect.scoped)
  )
})

const freePort = Effect.callback<number>((resume) => {
  const holder = createServer()
  holder.listen({ host: "127.0.0.1", port: 0 }, () => {
    const { port } = holder.address() as AddressInfo
    holder.close(() => resume(Effect.succeed(port)))
  })
})

describe("A port in use", () => {
  it.live("prevents the start, also if its holder shares it", () =>
    Effect.gen(function* () {
      const holder = createServer()
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => {
          holder.listen({ host: "127.0.0.1", port: 0, reusePort: process.platform === "linux" }, () =>
            resume(Effect.void)
          )
        }),
        () => Effect.sync(() => holder.close())
      )
      const { port } = holder.address() as AddressInfo
      const error = yield* Effect.flip(Layer.build(layerWith(Layer.empty, { consumerPort: port })))
      assert.strictEqual(error._tag, "ServeError")
    }).pipe(Effect.scoped)
  )

  it.live("is free again after the process has ended its listeners", () =>
    Effect.gen(function* () {
      const start = (port: number) =>
        Effect.scoped(
          Effect.map(
            Layer.build(layerWith(HttpRouter.add("GET", "/work", work), { consumerPort: port })),
            () => undefined
          )
        )
      const port = yield* freePort
      yield* start(port)
      yield* start(port)
    })
  )
})
