/** A proxy on this machine that hides its clients: nobody takes them for local ones, and somebody is told. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { IpNetwork } from "effect/net"
import * as Server from "../../../src/http/server/Server.ts"
import { layerWith as listeners, Logged } from "../support/listenerFixture.ts"
import { layerWith, send, Usher } from "../support/usherFixture.ts"

type Headers = { readonly [name: string]: string }

/** What a proxy sends that is not named. */
const unnamed: ReadonlyArray<Headers> = [
  { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" },
  { "x-forwarded-for": "127.0.0.1" },
  { "x-forwarded-proto": "http" },
  { "x-forwarded-host": "drops.example.com" },
  { forwarded: "for=203.0.113.7" },
  { "x-real-ip": "203.0.113.7" },
  { via: "1.1 nginx" }
]

/** What a named one sends that does not name its client. */
const silent: ReadonlyArray<Headers> = [
  { "x-forwarded-proto": "https" },
  { "x-forwarded-for": "unknown", "x-forwarded-proto": "https" },
  { forwarded: "for=203.0.113.7" },
  { "x-real-ip": "203.0.113.7" },
  { via: "1.1 nginx" }
]

const named = [IpNetwork.fromStringUnsafe("127.0.0.0/8")]

describe("Clients that a proxy on this machine hides", () => {
  for (const [name, trustedProxies, cases] of [
    ["without a named proxy", [], unnamed],
    ["of a named proxy that does not name them", named, silent]
  ] as const) {
    layer(layerWith({ trustedProxies }), { excludeTestServices: true })(name, (it) => {
      it.effect("meet the gate for bots, which lets those on this machine pass", () =>
        Effect.gen(function* () {
          const { consumer, brand, admin } = yield* Usher
          const guest = (headers: Headers = {}) =>
            Effect.map(
              consumer({
                method: "POST",
                path: "/api/auth/guest",
                headers: { "x-publishable-key": brand.publishableKey, ...headers }
              }),
              ({ status, body }) => `${status} ${body.code ?? ""}`
            )
          for (let visit = 0; visit < 20; visit++) assert.strictEqual(yield* guest(), "200 ")
          const shown = Effect.map(admin({ path: "/ready" }), ({ body }) => body.proxy)
          assert.isUndefined(yield* shown)
          for (let visit = 0; visit < 5; visit++) assert.strictEqual(yield* guest(cases[0]), "200 ")
          for (const headers of cases)
            assert.strictEqual(yield* guest(headers), "403 CHALLENGE_REQUIRED", JSON.stringify(headers))
          assert.strictEqual(yield* guest(), "200 ")
          const warning = yield* Effect.repeat(shown, {
            until: (found) => found !== undefined,
            schedule: Schedule.spaced("50 millis")
          })
          assert.match(warning, /TRUSTED_PROXIES/)
          assert.notInclude((yield* consumer({ path: "/ready" })).text, "TRUSTED_PROXIES")
        })
      )
    })
  }

  const routes = HttpRouter.add("GET", "/things", HttpServerResponse.jsonUnsafe({ ok: true }))
  layer(listeners(routes), { excludeTestServices: true })("without a named proxy", (it) => {
    it.effect("are served, and the log warns once", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Server.Listeners
        const warnings = Effect.map(Logged, (lines) => lines.filter((line) => line.includes("TRUSTED_PROXIES")))
        assert.strictEqual((yield* send(consumerUrl, { path: "/things" })).status, 200)
        assert.isEmpty(yield* warnings)
        for (const headers of unnamed)
          assert.strictEqual((yield* send(consumerUrl, { path: "/things", headers })).status, 200)
        yield* Effect.repeat(warnings, {
          until: ({ length }) => length > 0,
          schedule: Schedule.spaced("10 millis")
        })
        for (const headers of unnamed) yield* send(consumerUrl, { path: "/things", headers })
        assert.lengthOf(yield* warnings, 1)
      })
    )
  })
})
