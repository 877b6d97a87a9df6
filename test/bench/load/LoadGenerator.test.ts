import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer as createHttpsServer } from "node:https"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { LoadGenerator } from "../../../bench/load/LoadGenerator.ts"
import { makeCertificate } from "../../../bench/setup/Certificate.ts"
import type { ArrivalsJob, ClosedLoopJob, OpenLoopJob } from "../../../bench/load/Job.ts"

/** Answers each whole request by `answer(requestText, connection)`, the bytes of one answer in as many pieces as it says. */
const serve = (answer: (request: string, connection: string) => ReadonlyArray<string>) =>
  new Promise<{ readonly port: number; readonly requests: Array<string>; close(): void }>((resolve) => {
    const requests: Array<string> = []
    const sockets = new Set<Socket>()
    const server: Server = createServer((socket) => {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on("error", () => {})
      const connection = String(socket.remotePort)
      let text = ""
      socket.on("data", (bytes) => {
        text += bytes.toString("latin1")
        for (let end = text.indexOf("\r\n\r\n"); end >= 0; end = text.indexOf("\r\n\r\n")) {
          const request = text.slice(0, end + 4)
          text = text.slice(end + 4)
          requests.push(request)
          void sendPieces(socket, answer(request, connection))
        }
      })
    })
    server.listen(0, "127.0.0.1", () =>
      resolve({
        port: (server.address() as { readonly port: number }).port,
        requests,
        close: () => {
          server.close()
          for (const socket of sockets) socket.destroy()
        }
      })
    )
  })

const sendPieces = async (socket: Socket, pieces: ReadonlyArray<string>) => {
  for (const piece of pieces) {
    socket.write(piece)
    if (pieces.length > 1) await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

const ok = (body: string) => [`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`]

const directory = mkdtempSync(join(tmpdir(), "bench-test-"))
const file = join(directory, "tokens")
const generator = new LoadGenerator()

beforeAll(() => writeFileSync(file, Array.from({ length: 2_000 }, (_, index) => `token-${index}\n`).join("")))
afterAll(() => {
  generator.stop()
  rmSync(directory, { recursive: true })
})

const request = { head: "GET / HTTP/1.1\r\nAuthorization: Bearer ", tail: "\r\n\r\n" }
const closed = (port: number, tokens: number): ClosedLoopJob => ({
  mode: "closed",
  host: "127.0.0.1",
  port,
  connections: 4,
  warmupSeconds: 0,
  seconds: 20,
  watched: [],
  request,
  tokens: { file, from: 3, count: tokens },
  repeatTokens: false
})

describe("the load generator", () => {
  it("shows each token before the run, on the connection that uses it then, and counts the run alone", async () => {
    const byConnection = new Map<string, { shown: Array<string>; used: Array<string> }>()
    const server = await serve((text, connection) => {
      const seen = byConnection.get(connection) ?? { shown: [], used: [] }
      byConnection.set(connection, seen)
      const token = /Bearer (token-\d+)/.exec(text)![1]!
      ;(text.startsWith("GET /shown") ? seen.shown : seen.used).push(token)
      return ok("{}")
    })
    const shownFirst = { request: { ...request, head: request.head.replace("/", "/shown") }, seconds: 20 }
    const outcome = await generator.run({ ...closed(server.port, 500), shownFirst })
    server.close()
    const all = [...byConnection.values()]
    assert.strictEqual(all.length, 4)
    assert.strictEqual(new Set(all.flatMap(({ shown }) => shown)).size, 500)
    for (const { shown, used } of all) {
      assert.isAbove(used.length, 0)
      assert.deepStrictEqual(used, shown.slice(0, used.length))
    }
    // The run ends when the first connection has used all that it showed.
    assert.isTrue(all.some(({ shown, used }) => used.length === shown.length))
    const used = all.reduce((total, connection) => total + connection.used.length, 0)
    assert.deepStrictEqual(outcome.statuses, { 200: used })
  })

  it("fails when a shown token is refused", async () => {
    const server = await serve(() => ["HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno"])
    const failure = await generator
      .run({ ...closed(server.port, 50), shownFirst: { request, seconds: 20 } })
      .then(String, String)
    server.close()
    assert.include(failure, "A token was shown and refused with 401: no")
  })

  it("sends each token once, on kept connections, and counts every answer", async () => {
    const server = await serve(() => ok("{}"))
    const outcome = await generator.run(closed(server.port, 500))
    server.close()
    assert.deepStrictEqual(outcome.statuses, { 200: 500 })
    // The span ends when there are no tokens left; the answers still under way then are not of it.
    assert.isAtLeast(outcome.requests, 496)
    const tokens = server.requests.map((text) => Number(/Bearer token-(\d+)/.exec(text)?.[1])).toSorted((a, b) => a - b)
    assert.deepStrictEqual(
      tokens,
      Array.from({ length: 500 }, (_, index) => index + 3)
    )
  })

  it("sends requests over TLS", async () => {
    const certificate = await makeCertificate(directory)
    const [key, cert] = [readFileSync(certificate.keyFile), readFileSync(certificate.certFile)]
    const tls = { key, cert, requireHostHeader: false }
    const server = createHttpsServer(tls, (_request, response) => response.end("{}"))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const overTls = new LoadGenerator({ tls: true })
    const outcome = await overTls.run(closed((server.address() as AddressInfo).port, 100))
    overTls.stop()
    server.close()
    assert.deepStrictEqual(outcome.statuses, { 200: 100 })
    assert.strictEqual(outcome.connectionErrors, 0)
  })

  it("keeps further connections open, and does not count their responses", async () => {
    const server = await serve(() => ok("{}"))
    const withIdle = new LoadGenerator({ idleConnections: 7 })
    const outcome = await withIdle.run(closed(server.port, 100))
    withIdle.stop()
    server.close()
    assert.deepStrictEqual(outcome.statuses, { 200: 100 })
    assert.isAtLeast(server.requests.filter((text) => text.startsWith("GET /health ")).length, 7)
  })

  it("takes several heads in turns, and numbers the requests by their tokens", async () => {
    const server = await serve(() => ok("{}"))
    const heads = ["a", "b"].map((path) => `POST /${path} HTTP/1.1\r\nAuthorization: Bearer `)
    await generator.run({
      ...closed(server.port, 4),
      connections: 1,
      request: { heads, tail: "\r\nX-Number: {number}\r\n\r\n" }
    })
    server.close()
    assert.deepStrictEqual(
      server.requests.map((text) => [/^POST (\S+)/.exec(text)?.[1], /X-Number: (\d+)/.exec(text)?.[1]]),
      [
        ["/a", "100000003"],
        ["/b", "100000004"],
        ["/a", "100000005"],
        ["/b", "100000006"]
      ]
    )
  })

  it("understands answers in pieces, header names in any case, chunked bodies and absent ones", async () => {
    const shapes = [
      ["HTTP/1.1 200 OK\r\ncontent-le", "ngth: 5\r\n\r\nhe", "llo"],
      ["HTTP/1.1 200 OK\r\nCONTENT-LENGTH:2\r\n\r\n", "{}"],
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", "0\r\n\r\n"],
      ["HTTP/1.1 204 No Content\r\n\r\n"]
    ]
    let next = 0
    const server = await serve(() => shapes[next++ % shapes.length]!)
    const outcome = await generator.run({ ...closed(server.port, 40), connections: 1 }, [200, 204])
    server.close()
    assert.deepStrictEqual(outcome.statuses, { 200: 30, 204: 10 })
  })

  it("fails the run on any unexpected status, and says which", async () => {
    let count = 0
    const server = await serve(() => (++count === 100 ? ["HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n"] : ok("{}")))
    const failure = await generator.run(closed(server.port, 300)).then(String, String)
    server.close()
    assert.include(failure, "1 × 503")
  })

  it("fails the run when a connection breaks", async () => {
    const server = await serve(() => ok("{}"))
    let count = 0
    const breaking = await serve(() => (++count === 50 ? (breaking.close(), []) : ok("{}")))
    const failure = await generator.run(closed(breaking.port, 300)).then(String, String)
    server.close()
    assert.match(failure, /connections broke|had no answer/)
  })

  it("starts arrivals on time though answers stay away, and does not hide those never answered", async () => {
    let count = 0
    // The first two answers never come, which blocks both connections permanently.
    const server = await serve(() => (++count <= 2 ? [] : ok("{}")))
    const { tokens, ...common } = closed(server.port, 0)
    const job: OpenLoopJob = {
      ...common,
      mode: "open",
      tokens: { ...tokens, count: 1_000 },
      connections: 2,
      seconds: 0.5,
      drainSecondsMax: 0.2,
      perSecond: 200,
      seed: 1
    }
    const failure = await generator.run(job).then(String, String)
    server.close()
    assert.include(failure, "No response arrived")
    const answering = await serve(() => ok("{}"))
    const outcome = await generator.run({ ...job, port: answering.port, connections: 16, drainSecondsMax: 10 })
    answering.close()
    assert.isAbove(outcome.requests, 60)
    assert.strictEqual(outcome.unsent, 0)
    assert.strictEqual(outcome.unanswered, 0)
    assert.strictEqual(outcome.statuses["200"], outcome.requests)
  })

  it("carries the token of a session into the entry and the status of the same arrival", async () => {
    let sessions = 0
    const server = await serve((text) =>
      text.startsWith("POST /session") ? ok(`{"session":{},"accessToken":"fresh-${++sessions}"}`) : ok("{}")
    )
    const job: ArrivalsJob = {
      mode: "arrivals",
      host: "127.0.0.1",
      port: server.port,
      connections: 3,
      warmupSeconds: 0,
      seconds: 0.3,
      watched: [],
      session: "POST /session HTTP/1.1\r\n\r\n",
      enter: { head: "POST /enter HTTP/1.1\r\nAuthorization: Bearer ", tail: "\r\n\r\n" },
      status: { head: "GET /status HTTP/1.1\r\nAuthorization: Bearer ", tail: "\r\n\r\n" }
    }
    const outcome = await generator.run(job)
    server.close()
    const used = (kind: string) =>
      server.requests.filter((text) => text.startsWith(kind)).map((text) => /Bearer (\S+)/.exec(text)![1]!)
    assert.isAbove(outcome.requests, 0)
    assert.strictEqual(outcome.steps.length, 3)
    assert.strictEqual(new Set(used("GET /status")).size, used("GET /status").length)
    assert.includeMembers(used("POST /enter"), used("GET /status"))
    assert.includeMembers(
      Array.from({ length: sessions }, (_, index) => `fresh-${index + 1}`),
      used("POST /enter")
    )
  })
})
