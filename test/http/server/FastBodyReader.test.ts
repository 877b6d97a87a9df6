/** Sends bodies over a connection in pieces, to a route that returns the body. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { connect, type Socket } from "node:net"
import * as Server from "../../../src/http/server/Server.ts"
import { layerWith } from "../support/listenerFixture.ts"

const text = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => Effect.orDie(request.text))

const routes = Layer.mergeAll(
  HttpRouter.add("POST", "/once", Effect.map(text, HttpServerResponse.text)),
  HttpRouter.add(
    "POST",
    "/twice",
    Effect.map(Effect.all([text, text], { concurrency: 2 }), ([one, other]) =>
      HttpServerResponse.text(one === other ? `${one} twice` : "not the same")
    )
  ),
  HttpRouter.add(
    "POST",
    "/again",
    Effect.map(Effect.all([text, text]), ([one, other]) => HttpServerResponse.text(`${one}, again ${other}`))
  )
)

/** Sends the pieces with short pauses. Returns all that comes back. */
const exchange = (pieces: ReadonlyArray<string | Buffer>) =>
  Effect.flatMap(Server.Listeners, ({ consumerUrl }) =>
    Effect.callback<string>((resume) => {
      const { hostname, port } = new URL(consumerUrl)
      let answer = ""
      const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true })
      socket.setEncoding("utf8")
      socket.on("data", (chunk: string) => (answer += chunk))
      socket.on("close", () => resume(Effect.succeed(answer)))
      const next = (index: number) => {
        if (index === pieces.length) return
        socket.write(pieces[index]!, () => setImmediate(() => setImmediate(next, index + 1)))
      }
      socket.on("connect", () => next(0))
    })
  )

const head = (path: string, length: number, more = "") =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${length}\r\n${more}\r\n`

const bodyOf = (answer: string) => answer.slice(answer.indexOf("\r\n\r\n") + 4)

layer(layerWith(routes), { excludeTestServices: true })("A small body", (it) => {
  it.effect("is read completely, in one piece with its head or in many that split characters", () =>
    Effect.gen(function* () {
      const body = Buffer.from('{"name":"Zoë ☂"}')
      const whole = Buffer.concat([Buffer.from(head("/once", body.length)), body])
      assert.strictEqual(bodyOf(yield* exchange([whole])), body.toString())
      const bytes = Array.from(body, (byte) => Buffer.from([byte]))
      assert.strictEqual(bodyOf(yield* exchange([head("/once", body.length), ...bytes])), body.toString())
    })
  )

  it.effect("is empty if there is none", () =>
    Effect.gen(function* () {
      const answer = yield* exchange([head("/once", 0)])
      assert.match(answer, /^HTTP\/1.1 200 /)
      assert.strictEqual(bodyOf(answer), "")
    })
  )

  it.effect("can be read several times at once, and again", () =>
    Effect.gen(function* () {
      assert.strictEqual(bodyOf(yield* exchange([head("/twice", 2), "a", "b"])), "ab twice")
      assert.strictEqual(bodyOf(yield* exchange([head("/again", 2), "a", "b"])), "ab, again ab")
    })
  )

  it.effect("receives 100 Continue if its sender expects it", () =>
    Effect.gen(function* () {
      const answer = yield* exchange([head("/once", 2, "Expect: 100-continue\r\n"), "ab"])
      assert.match(answer, /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /)
      assert.strictEqual(answer.slice(-2), "ab")
    })
  )

  it.effect("over 16 KiB is a 413 before it has arrived, and closes the connection", () =>
    Effect.gen(function* () {
      const answer = yield* exchange([head("/once", 100_000), "a"])
      assert.match(answer, /^HTTP\/1.1 413 /)
      assert.strictEqual(bodyOf(answer), '{"error":"Request body is larger than 16 KiB"}')
      const expecting = yield* exchange([head("/once", 100_000, "Expect: 100-continue\r\n")])
      assert.match(expecting, /^HTTP\/1.1 413 /)
    })
  )

  it.effect("with too many levels or values is a 400 before it is parsed", () =>
    Effect.gen(function* () {
      const issueOf = (body: string, more?: string) =>
        Effect.map(exchange([head("/once", body.length, more), body]), (answer) => {
          assert.match(answer, /HTTP\/1.1 400 /)
          const { error, issues } = JSON.parse(answer.slice(answer.lastIndexOf("\r\n\r\n") + 4))
          assert.strictEqual(error, "validation_error")
          return [issues[0].type, issues[0].expected]
        })
      assert.deepStrictEqual(yield* issueOf("[".repeat(33) + "]".repeat(33)), ["json", "at most 32 levels of JSON"])
      const long = `[${"0,".repeat(1_000)}0]`
      const tooMany = ["json", "at most 1000 fields and items of JSON"]
      assert.deepStrictEqual(yield* issueOf(long), tooMany)
      assert.deepStrictEqual(yield* issueOf(long, "Expect: 100-continue\r\n"), tooMany)
    })
  )
})
