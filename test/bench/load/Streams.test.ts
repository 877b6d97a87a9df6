import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { LoadGenerator } from "../../../bench/load/LoadGenerator.ts"
import type { StreamsJob } from "../../../bench/load/Job.ts"

const moverCount = 40
const streamCount = 5

/** A line of streams behind the movers; `tellAfter` milliseconds after the first of some moves it tells of all of them. */
const serve = (options: { readonly tellAfter: number; readonly status: number }) =>
  new Promise<{ readonly port: number; readonly moves: () => number; close(): void }>((resolve) => {
    const streams: Array<Socket> = []
    const sockets = new Set<Socket>()
    let moves = 0
    let isTelling = false
    const tell = (socket: Socket, index: number) => {
      const event = `id: 1\nevent: state\ndata: {"status":"QUEUED","position":${moverCount - moves + index + 1}}\n\n`
      // Split in the middle, as a network may.
      socket.write(`${event.length.toString(16)}\r\n${event.slice(0, 30)}`)
      setTimeout(() => socket.write(`${event.slice(30)}\r\n`), 1)
    }
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on("error", () => {})
      socket.on("data", (bytes) => {
        if (bytes.toString().startsWith("GET")) {
          socket.write(`HTTP/1.1 ${options.status} \r\nTransfer-Encoding: chunked\r\n\r\nb\r\nretry: 100\n\r\n`)
          tell(socket, streams.push(socket) - 1)
          return
        }
        moves += 1
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        if (isTelling) return
        isTelling = true
        setTimeout(() => {
          isTelling = false
          streams.forEach(tell)
        }, options.tellAfter)
      })
    })
    server.listen(0, "127.0.0.1", () =>
      resolve({
        port: (server.address() as { readonly port: number }).port,
        moves: () => moves,
        close: () => {
          server.close()
          for (const socket of sockets) socket.destroy()
        }
      })
    )
  })

const directory = mkdtempSync(join(tmpdir(), "bench-streams-"))
const file = join(directory, "tokens")
const generator = new LoadGenerator()

beforeAll(() => writeFileSync(file, Array.from({ length: 100 }, (_, index) => `token-${index}\n`).join("")))
afterAll(() => {
  generator.stop()
  rmSync(directory, { recursive: true })
})

const job = (port: number): StreamsJob => ({
  mode: "streams",
  host: "127.0.0.1",
  port,
  connections: streamCount,
  warmupSeconds: 0,
  seconds: 1,
  watched: [],
  request: { head: "GET /events HTTP/1.1\r\nAuthorization: Bearer ", tail: "\r\n\r\n" },
  tokens: { file, from: moverCount, count: streamCount },
  move: { head: "POST /leave HTTP/1.1\r\nAuthorization: Bearer ", tail: "\r\n\r\n" },
  movers: { file, from: 0, count: moverCount },
  movesPerSecond: 20,
  seed: 1
})

describe("the load generator's streams", () => {
  it("take down for each stream and each move how long it was not told", async () => {
    const server = await serve({ tellAfter: 100, status: 200 })
    let heldAfter = 0
    const outcome = await generator.run(job(server.port), [200], () => {
      heldAfter = server.moves()
      return Promise.resolve()
    })
    assert.isAbove(server.moves(), 5)
    assert.strictEqual(heldAfter, server.moves())
    assert.deepStrictEqual(outcome.statuses, { 200: streamCount })
    assert.strictEqual(outcome.unanswered, 0)
    assert.isBelow(outcome.requests, server.moves() * streamCount)
    assert.isAbove(outcome.latency.max, 95_000)
    assert.isBelow(outcome.latency.p50, outcome.latency.max)
    assert.match(outcome.samples[0]!, /"position":4[1-5]/)
    server.close()
  })

  it("fail where a stream is refused", async () => {
    const server = await serve({ tellAfter: 10, status: 503 })
    let failure: unknown
    await generator.run(job(server.port)).catch((error: unknown) => (failure = error))
    assert.match(String(failure), /refused.*503/s)
    server.close()
  })
})
