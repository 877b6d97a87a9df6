/** The outbox over HTTP, which exists only for development. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Option, Redacted, Schedule } from "effect"
import { IpNetwork } from "effect/net"
import { asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"

describe("The outbox", () => {
  layer(Fixture.layer, { excludeTestServices: true })("without providers", (it) => {
    it.effect("shows an organization its own messages, newest first, and filters them by address", () =>
      Effect.gen(function* () {
        const { consumer, admin, brand, stranger } = yield* Usher
        const ask = (body: object) =>
          consumer({
            method: "POST",
            path: "/api/auth/otp/request",
            headers: { "x-publishable-key": brand.publishableKey },
            body
          })
        const read = (query: string, key = brand.secretKey) =>
          Effect.map(admin({ path: `/api/outbox${query}`, headers: asServer(key) }), ({ body }) => body.data)
        yield* ask({ email: "ann@example.com" })
        yield* ask({ email: "ann@example.com" })
        yield* ask({ phone: "0151 12345678", defaultCountry: "DE" })
        const all = yield* Effect.repeat(read(""), {
          until: (data) => data.length === 3,
          schedule: Schedule.spaced("5 millis")
        }).pipe(Effect.timeout("20 minutes"))
        assert.deepStrictEqual(Object.keys(all[0]), ["channel", "to", "subject", "text", "sentAt"])
        const times = all.map(({ sentAt }: { readonly sentAt: string }) => sentAt)
        assert.deepStrictEqual(times, times.toSorted().toReversed())
        assert.strictEqual((yield* read("?to=ann@example.com")).length, 2)
        assert.strictEqual((yield* read("?to=ANN@example.com")).length, 2)
        for (const to of ["%2B4915112345678", "+4915112345678"])
          assert.strictEqual((yield* read(`?to=${to}`)).length, 1)
        assert.deepStrictEqual(yield* read("?to=bob@example.com"), [])
        assert.deepStrictEqual(yield* read("", stranger.secretKey), [])
        assert.deepStrictEqual(yield* read("", brand.testSecretKey), [])
      })
    )
  })

  const proxied: ReadonlyArray<{ readonly [name: string]: string }> = [
    { "x-forwarded-for": "203.0.113.7" },
    { "x-forwarded-for": "127.0.0.1" },
    { "x-forwarded-proto": "https" },
    { "x-forwarded-host": "admin.example.com" },
    { forwarded: "for=203.0.113.7;proto=https" },
    { "x-real-ip": "203.0.113.7" },
    { via: "1.1 proxy" }
  ]
  for (const trustedProxies of [[], [IpNetwork.fromStringUnsafe("127.0.0.0/8")]]) {
    layer(Fixture.layerWith({ trustedProxies }), { excludeTestServices: true })(
      `with ${trustedProxies.length} trusted proxies on this machine`,
      (it) => {
        it.effect("is an unknown path through a proxy, and readable without one", () =>
          Effect.gen(function* () {
            const { admin, brand } = yield* Usher
            const read = (headers: object) =>
              Effect.map(
                admin({ path: "/api/outbox", headers: { ...asServer(brand.secretKey), ...headers } }),
                (answer) => answer.status
              )
            assert.strictEqual(yield* read({}), 200)
            for (const headers of proxied) assert.isAtLeast(yield* read(headers), 403, JSON.stringify(headers))
            assert.strictEqual(yield* read({ "x-forwarded-proto": "https", "x-forwarded-for": "127.0.0.1" }), 404)
          })
        )
      }
    )
  }

  layer(Fixture.layerWith({ publicUrl: "https://drops.example.com" }), { excludeTestServices: true })(
    "of a server with a public address",
    (it) => {
      it.effect("is an unknown path", () =>
        Effect.gen(function* () {
          const { admin, brand } = yield* Usher
          const { status } = yield* admin({ path: "/api/outbox", headers: asServer(brand.secretKey) })
          assert.strictEqual(status, 404)
        })
      )
    }
  )

  const production = Fixture.layerWith({
    smtpUrl: Option.some(Redacted.make("smtp://127.0.0.1:1")),
    emailFrom: "no-reply@example.com",
    smsProviderUrl: Option.some(Redacted.make("http://127.0.0.1:1")),
    smsAccount: "AC1",
    smsToken: Option.some(Redacted.make("token")),
    smsFrom: "+12025550100"
  })
  layer(production, { excludeTestServices: true })("with providers", (it) => {
    it.effect("is an unknown path, and an undeliverable message does not change the answer", () =>
      Effect.gen(function* () {
        const { consumer, admin, brand } = yield* Usher
        const { status, body } = yield* admin({ path: "/api/outbox", headers: asServer(brand.secretKey) })
        assert.deepStrictEqual([status, body], [404, { error: "Not found" }])
        const asked = yield* consumer({
          method: "POST",
          path: "/api/auth/otp/request",
          headers: { "x-publishable-key": brand.publishableKey },
          body: { email: "ann@example.com" }
        })
        assert.deepStrictEqual([asked.status, asked.body.ok], [200, true])
      })
    )
  })

  const reachable = Fixture.layerWith({ trustedProxies: [IpNetwork.fromStringUnsafe("10.0.0.0/8")] })
  layer(reachable, { excludeTestServices: true })("behind a proxy", (it) => {
    it.effect("is an unknown path, and requests for codes get a 503 until a provider is set", () =>
      Effect.gen(function* () {
        const { consumer, admin, brand } = yield* Usher
        assert.strictEqual((yield* admin({ path: "/api/outbox", headers: asServer(brand.secretKey) })).status, 404)
        for (const body of [{ email: "ann@example.com" }, { phone: "+4915123456789" }]) {
          const asked = yield* consumer({
            method: "POST",
            path: "/api/auth/otp/request",
            headers: { "x-publishable-key": brand.publishableKey },
            body
          })
          assert.deepStrictEqual([asked.status, asked.body], [503, { error: "Service unavailable" }])
        }
      })
    )
  })
})
