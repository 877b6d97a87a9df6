import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { IpNetwork } from "effect/net"
import { readFileSync } from "node:fs"
import { request } from "node:https"
import { fileURLToPath } from "node:url"
import { ConsumerApi } from "../../../src/api/consumer/ConsumerApi.ts"
import * as Server from "../../../src/http/server/Server.ts"
import * as System from "../../../src/http/server/System.ts"
import { StartRefused } from "../../../src/settings/Settings.ts"
import { layerWith, outsideAddress } from "../support/listenerFixture.ts"
import { type Call, send } from "../support/usherFixture.ts"

const file = (name: string): string => fileURLToPath(new URL(`tls/${name}`, import.meta.url))
const tls = { tlsCertFile: file("certificate.pem"), tlsKeyFile: file("key.pem") }

const routes = Layer.merge(
  HttpRouter.add("GET", "/things", HttpServerResponse.jsonUnsafe({ ok: true })),
  System.layer(ConsumerApi, "public")
)
const ok = { ok: true }
const required = { error: "HTTPS required" }

const call = (headers: NonNullable<Call["headers"]> = {}, host?: string, path = "/things") =>
  Effect.flatMap(Server.Listeners, ({ consumerUrl }) => {
    const url = new URL(consumerUrl)
    if (host !== undefined) url.hostname = host
    return send(url.href, { path, headers })
  })

/** Sends a GET over TLS that trusts only the tests' certificate. */
const secureGet = (url: string) =>
  Effect.callback<{ readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly text: string }>(
    (resume) => {
      const outgoing = request(
        new URL("/things", url),
        { ca: readFileSync(tls.tlsCertFile), agent: false },
        (response) => {
          let text = ""
          response.on("data", (chunk) => (text += chunk))
          response.on("end", () =>
            resume(Effect.succeed({ status: response.statusCode!, headers: response.headers, text }))
          )
        }
      )
      outgoing.on("error", (error) => resume(Effect.die(error)))
      outgoing.end()
    }
  )

layer(layerWith(routes, tls), { excludeTestServices: true })("With its own certificate, a process", (it) => {
  it.effect("uses TLS on both ports and sends HSTS", () =>
    Effect.gen(function* () {
      const { consumerUrl, adminUrl } = yield* Server.Listeners
      assert.match(consumerUrl, /^https:/)
      assert.match(adminUrl, /^https:/)
      const { status, headers, text } = yield* secureGet(consumerUrl)
      assert.deepStrictEqual([status, text], [200, '{"ok":true}'])
      assert.strictEqual(headers["strict-transport-security"], "max-age=31536000")
      assert.strictEqual((yield* secureGet(adminUrl)).status, 404)
    })
  )

  it.effect("does not respond over plain HTTP", () =>
    Effect.gen(function* () {
      const { consumerUrl } = yield* Server.Listeners
      const plain = yield* Effect.exit(send(consumerUrl.replace("https:", "http:"), { path: "/things" }))
      assert.isTrue(Exit.isFailure(plain))
    })
  )
})

describe("An unusable certificate", () => {
  const started = (settings: Parameters<typeof layerWith>[1]) =>
    Effect.scoped(Effect.flip(Layer.build(layerWith(routes, settings)))).pipe(
      Effect.map((error) => {
        assert.instanceOf(error, StartRefused)
        return error.message
      })
    )

  it.live("prevents a start, with a message that names the setting and the fix", () =>
    Effect.gen(function* () {
      const missing = yield* started({ ...tls, tlsKeyFile: file("missing.pem") })
      assert.match(missing, /^TLS_KEY_FILE: .*missing\.pem cannot be read: .* Correct the path\.$/)
      const mismatched = yield* started({ ...tls, tlsKeyFile: file("other-key.pem") })
      assert.match(mismatched, /^TLS_CERT_FILE and TLS_KEY_FILE cannot be used together: /)
      assert.notInclude(mismatched, "BEGIN")
    })
  )
})

layer(layerWith(routes, { host: "0.0.0.0" }), { excludeTestServices: true })("Over plain HTTP, a request", (it) => {
  it.effect("from loopback is served with any forwarding headers, and without HSTS", () =>
    Effect.gen(function* () {
      for (const headers of [{}, { "x-forwarded-proto": "http", "x-forwarded-for": "203.0.113.7" }]) {
        const { status, body, headers: sent } = yield* call(headers, "127.0.0.1")
        assert.deepStrictEqual([status, body], [200, ok])
        assert.isUndefined(sent["strict-transport-security"])
      }
      const claimed = yield* call({ "x-forwarded-proto": "https" }, "127.0.0.1")
      assert.isUndefined(claimed.headers["strict-transport-security"])
    })
  )

  it.effect("from another address is refused with any forwarding headers", () =>
    Effect.gen(function* () {
      for (const headers of [{}, { "x-forwarded-proto": "https" }, { "x-forwarded-for": "127.0.0.1" }]) {
        const { status, body } = yield* call(headers, outsideAddress)
        assert.deepStrictEqual([status, body], [403, required])
      }
    })
  )

  it.effect("from another address is served only if it is a probe", () =>
    Effect.gen(function* () {
      for (const headers of [{}, { "x-forwarded-proto": "http", "x-forwarded-for": "203.0.113.7" }]) {
        assert.deepStrictEqual((yield* call(headers, outsideAddress, "/health")).body, { status: "ok" })
        assert.deepStrictEqual((yield* call(headers, outsideAddress, "/ready")).body, { status: "ready" })
        assert.deepStrictEqual((yield* call(headers, outsideAddress, "/ready?verbose")).status, 200)
      }
      for (const path of ["/docs", "/openapi.json", "/healthy", "/ready/", "/api/ready", "/things?/health"]) {
        assert.deepStrictEqual((yield* call({}, outsideAddress, path)).body, required, path)
      }
    })
  )
})

const trusted = [IpNetwork.fromStringUnsafe("127.0.0.0/8"), IpNetwork.fromStringUnsafe("10.0.0.0/8")]

layer(layerWith(routes, { trustedProxies: trusted }), { excludeTestServices: true })(
  "Through a trusted proxy",
  (it) => {
    const outcome = (headers: NonNullable<Call["headers"]>) =>
      Effect.map(call(headers), ({ status, headers: sent }) => [
        status,
        sent["strict-transport-security"] !== undefined
      ])

    it.effect("a request has the protocol that the proxy forwards", () =>
      Effect.gen(function* () {
        const from = { "x-forwarded-for": "203.0.113.7" }
        assert.deepStrictEqual(yield* outcome({ ...from, "x-forwarded-proto": "https" }), [200, true])
        assert.deepStrictEqual(yield* outcome({ "x-forwarded-proto": "HTTPS" }), [200, true])
        assert.deepStrictEqual(yield* outcome({ ...from, "x-forwarded-proto": "http" }), [403, false])
        assert.deepStrictEqual(yield* outcome({ "x-forwarded-proto": "http" }), [403, false])
        assert.deepStrictEqual(yield* outcome(from), [403, false], "forwarded without a protocol")
        assert.deepStrictEqual(yield* outcome({ ...from, "x-forwarded-proto": "gopher" }), [403, false])
      })
    )

    it.effect("a request over several hops has the protocol of the client's hop", () =>
      Effect.gen(function* () {
        const through = (forwardedFor: string, protocol: string) =>
          outcome({ "x-forwarded-for": forwardedFor, "x-forwarded-proto": protocol })
        assert.deepStrictEqual(yield* through("203.0.113.7, 10.1.1.1", "https, http"), [200, true])
        assert.deepStrictEqual(yield* through("203.0.113.7, 10.1.1.1", "http, https"), [403, false])
        assert.deepStrictEqual(yield* through("1.2.3.4, 203.0.113.7, 10.1.1.1", "https, http, https"), [403, false])
        assert.deepStrictEqual(
          yield* through("1.2.3.4, 203.0.113.7", "https"),
          [200, true],
          "only the last proxy's header counts"
        )
      })
    )

    it.effect("a request of the proxy itself is served, such as a health check", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* outcome({}), [200, false])
      })
    )
  }
)
