import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Server from "../../../src/http/server/Server.ts"
import { layerWith, Logged } from "../support/listenerFixture.ts"
import { type Call, send } from "../support/usherFixture.ts"

const routes = Layer.mergeAll(
  HttpRouter.add("GET", "/things/:id", HttpServerResponse.jsonUnsafe({ ok: true })),
  HttpRouter.add("POST", "/things/:id", HttpServerResponse.jsonUnsafe({ ok: true })),
  HttpRouter.add("DELETE", "/things", HttpServerResponse.empty()),
  HttpRouter.add("GET", "/broken", Effect.die(new Error("canary cause"))),
  HttpRouter.add("GET", "/failed", Effect.fail("canary failure") as Effect.Effect<never>),
  HttpRouter.add(
    "POST",
    "/echo",
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.map(Effect.orDie(request.text), (text) => HttpServerResponse.jsonUnsafe({ length: text.length }))
    )
  )
)

const call = (request: Call) => Effect.flatMap(Server.Listeners, ({ consumerUrl }) => send(consumerUrl, request))

layer(layerWith(routes), { excludeTestServices: true })("Every response", (it) => {
  describe("without an operation", () => {
    it.effect("is JSON for an unknown path", () =>
      Effect.gen(function* () {
        for (const path of ["/nothing", "/api", "/things/1/more", "/%2e%2e", `/things/${"a".repeat(2_000)}`]) {
          const { status, body } = yield* call({ path })
          assert.deepStrictEqual([status, body], [404, { error: "Not found" }], path)
        }
      })
    )

    it.effect("lists the methods of a known path", () =>
      Effect.gen(function* () {
        const put = yield* call({ method: "PUT", path: "/things/1?a=b" })
        assert.deepStrictEqual([put.status, put.body], [405, { error: "Method not allowed" }])
        assert.strictEqual(put.headers["allow"], "HEAD, GET, POST")
        const get = yield* call({ path: "/things" })
        assert.deepStrictEqual([get.status, get.headers["allow"]], [405, "DELETE"])
        const options = yield* call({ method: "OPTIONS", path: "/things" })
        assert.deepStrictEqual([options.status, options.headers["allow"]], [405, "DELETE"])
      })
    )

    it.effect("does not contain the cause of a defect, which the log contains with the request's id", () =>
      Effect.gen(function* () {
        const logged = yield* Logged
        for (const path of ["/broken?token=canary-query", "/failed"]) {
          const { status, text, headers } = yield* call({ path })
          assert.deepStrictEqual([status, text], [500, '{"error":"Internal server error"}'])
          const line = logged.find((line) => line.includes(headers["x-request-id"]!))
          assert.include(line, "canary")
          assert.notInclude(line, "canary-query")
        }
      })
    )

    it.effect("is a 413 for a body over 16 KiB, chunked or not", () =>
      Effect.gen(function* () {
        const fits = yield* call({ method: "POST", path: "/echo", body: "a".repeat(16 * 1024) })
        assert.deepStrictEqual([fits.status, fits.body.length], [200, 16 * 1024])
        const tooLarge = yield* call({ method: "POST", path: "/echo", body: "a".repeat(16 * 1024 + 1) })
        assert.deepStrictEqual([tooLarge.status, tooLarge.body], [413, { error: "Request body is larger than 16 KiB" }])
        const { consumerUrl } = yield* Server.Listeners
        const chunked = yield* Effect.promise(() =>
          fetch(`${consumerUrl}/echo`, {
            method: "POST",
            body: ReadableStream.from(Array.from({ length: 20 }, () => new Uint8Array(1024))),
            duplex: "half"
          }).then((response) => response.status)
        )
        assert.strictEqual(chunked, 413)
      })
    )
  })

  it.effect("to HEAD equals the one to GET without its body", () =>
    Effect.gen(function* () {
      const { status, text, headers } = yield* call({ method: "HEAD", path: "/things/1" })
      assert.deepStrictEqual([status, text, headers["content-length"]], [200, "", "11"])
    })
  )

  it.effect("contains the caller's request id if it is valid, otherwise a new one", () =>
    Effect.gen(function* () {
      for (const sent of ["a", "order-7_2.retry", "x".repeat(128)]) {
        const { headers } = yield* call({ path: "/things/1", headers: { "x-request-id": sent } })
        assert.strictEqual(headers["x-request-id"], sent)
      }
      const made = new Set<string | undefined>()
      for (const sent of ["", "two words", "a/b", "<script>", "x".repeat(129), "ü"]) {
        const { headers } = yield* call({ path: "/nothing", headers: { "x-request-id": sent } })
        assert.match(headers["x-request-id"]!, /^[0-9a-f-]{36}$/)
        made.add(headers["x-request-id"])
      }
      assert.strictEqual(made.size, 6)
    })
  )

  it.effect("contains the API's version", () =>
    Effect.gen(function* () {
      for (const path of ["/things/1", "/nothing", "/broken"]) {
        assert.strictEqual((yield* call({ path })).headers["x-api-version"], "1.0.0")
      }
    })
  )

  it.effect("of the Consumer API may be read from any origin, with its headers", () =>
    Effect.gen(function* () {
      for (const path of ["/things/1", "/nothing", "/broken"]) {
        const { headers } = yield* call({ path, headers: { origin: "https://shop.example" } })
        assert.strictEqual(headers["access-control-allow-origin"], "*")
        for (const name of [
          "Date",
          "X-Request-Id",
          "Retry-After",
          "X-RateLimit-Limit",
          "X-RateLimit-Remaining",
          "X-RateLimit-Reset"
        ]) {
          assert.include(headers["access-control-expose-headers"], name)
        }
      }
    })
  )

  it.effect("to a preflight allows the request", () =>
    Effect.gen(function* () {
      const { status, text, headers } = yield* call({
        method: "OPTIONS",
        path: "/things/1",
        headers: {
          origin: "https://shop.example",
          "access-control-request-method": "POST",
          "access-control-request-headers": "authorization,x-publishable-key"
        }
      })
      assert.deepStrictEqual([status, text, headers["access-control-allow-origin"]], [204, "", "*"])
      assert.include(headers["access-control-allow-methods"], "POST")
      for (const name of ["Authorization", "Content-Type", "X-Publishable-Key"]) {
        assert.include(headers["access-control-allow-headers"], name)
      }
    })
  )

  it.effect("of the Admin API has no CORS headers", () =>
    Effect.gen(function* () {
      const { adminUrl } = yield* Server.Listeners
      const { headers } = yield* send(adminUrl, { path: "/nothing", headers: { origin: "https://shop.example" } })
      assert.isUndefined(headers["access-control-allow-origin"])
      const preflight = { origin: "https://shop.example", "access-control-request-method": "POST" }
      assert.strictEqual((yield* send(adminUrl, { method: "OPTIONS", path: "/", headers: preflight })).status, 404)
    })
  )
})
