import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { IpNetwork } from "effect/net"
import { SqlClient } from "effect/sql"
import { Organizations } from "../../../src/auth/keys/Organizations.ts"
import type { RateLimits } from "../../../src/domain/organization/Plan.ts"
import * as Server from "../../../src/http/server/Server.ts"
import { layerWith } from "../support/listenerFixture.ts"
import { type Answer, asConsumer, asServer, type Call, send, Usher } from "../support/usherFixture.ts"
import * as Fixture from "../support/usherFixture.ts"
import { withinMinute } from "./withinMinute.ts"

const anyId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

const figures = ({ headers }: Answer) =>
  ["limit", "remaining", "reset"].map((name) => {
    const value = headers[`x-ratelimit-${name}`]
    assert.match(value ?? "", /^\d+$/, name)
    return Number(value)
  }) as [number, number, number]

/** Creates an organization with these limits. */
const organization = Effect.fnUntraced(function* (rateLimits: RateLimits) {
  const organizations = yield* Organizations
  const sql = yield* SqlClient.SqlClient
  const made = yield* organizations.create({ name: "Limited", plan: "enterprise" })
  const settings = JSON.stringify({ rateLimits })
  yield* sql`update organizations set settings = ${settings}::text::jsonb where id = ${made.organizationId}`
  return made
})

describe("Rate limits over HTTP", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    const guestSession = (publishableKey: string): Call => ({
      method: "POST",
      path: "/api/auth/guest",
      headers: { "x-publishable-key": publishableKey }
    })

    const otpRequest = (publishableKey: string): Call => ({
      method: "POST",
      path: "/api/auth/otp/request",
      headers: { "x-publishable-key": publishableKey }
    })

    it.effect("are in the headers of 200, 400, 404 and 429, and count down together for keys of one kind", () =>
      Effect.gen(function* () {
        yield* withinMinute(5)
        const { consumer } = yield* Usher
        const keys = yield* organization({ consumerApiPerMinute: 5 })
        const now = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
        const reset = now - (now % 60) + 60
        const answers = [
          yield* consumer(guestSession(keys.publishableKey)),
          yield* consumer(guestSession(keys.testPublishableKey)),
          yield* consumer({ path: "/api/queues/none", headers: { "x-publishable-key": keys.publishableKey } }),
          yield* consumer({ path: `/api/queues/${anyId}`, headers: { "x-publishable-key": keys.publishableKey } }),
          yield* consumer({ ...otpRequest(keys.testPublishableKey), body: "{" }),
          yield* consumer(guestSession(keys.publishableKey)),
          yield* consumer({ path: "/api/queues/none", headers: { "x-publishable-key": keys.testPublishableKey } })
        ]
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [200, 200, 400, 404, 400, 429, 429]
        )
        assert.deepStrictEqual(
          answers.map(figures),
          [4, 3, 2, 1, 0, 0, 0].map((remaining) => [5, remaining, reset])
        )
      })
    )

    it.effect("have a budget for the secret keys, which no caller with the public key can use up", () =>
      Effect.gen(function* () {
        yield* withinMinute(5)
        const { consumer } = yield* Usher
        const keys = yield* organization({ consumerApiPerMinute: 3 })
        for (let request = 0; request < 5; request++) yield* consumer(guestSession(keys.publishableKey))
        const complete = (secretKey: string) =>
          consumer({ method: "POST", path: `/api/queues/${anyId}/complete`, headers: asServer(secretKey), body: "{" })
        const answers = [
          yield* complete(keys.secretKey),
          yield* complete(keys.testSecretKey),
          yield* complete(keys.secretKey),
          yield* complete(keys.secretKey)
        ]
        assert.deepStrictEqual(
          answers.map((answer) => [answer.status, figures(answer)[1]]),
          [
            [400, 2],
            [400, 1],
            [400, 0],
            [429, 0]
          ]
        )
      })
    )

    it.effect("leave a second address its requests when the first has used up all of its own", () =>
      Effect.gen(function* () {
        yield* withinMinute(5)
        const { consumer } = yield* Usher
        const { publishableKey } = yield* organization({ otpRequestsPerMinute: 10 })
        const ask = (localAddress: string) =>
          consumer({ ...otpRequest(publishableKey), body: { email: "a" }, localAddress })
        const first = yield* Effect.replicateEffect(ask("127.0.0.2"), 12)
        assert.deepStrictEqual(first.map(({ status }) => status).slice(8), [400, 400, 429, 429])
        assert.deepStrictEqual(first.map((answer) => figures(answer).slice(0, 2)).slice(8), [
          [10, 1],
          [10, 0],
          [10, 0],
          [10, 0]
        ])
        const second = yield* ask("127.0.0.3")
        assert.deepStrictEqual([second.status, ...figures(second).slice(0, 2)], [400, 10, 0])
      })
    )

    it.effect("allow bodies of 1 MiB with the secret key alone", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
        const statusOf = (headers: Call["headers"], bytes: number, path: string) =>
          Effect.map(
            consumer({ method: "POST", path, headers: headers!, body: `{"code":"${"1".repeat(bytes - 11)}"}` }),
            ({ status }) => status
          )
        const complete = `/api/queues/${anyId}/complete`
        const asSecret = asServer(brand.secretKey)
        assert.strictEqual(yield* statusOf(asSecret, 1024 * 1024, complete), 400)
        assert.strictEqual(yield* statusOf(asSecret, 1024 * 1024 + 1, complete), 413)
        const asPublic = { "x-publishable-key": brand.publishableKey }
        assert.strictEqual(yield* statusOf(asPublic, 16 * 1024, "/api/auth/refresh"), 400)
        assert.strictEqual(yield* statusOf(asPublic, 16 * 1024 + 1, "/api/auth/refresh"), 413)
        const pretending = { ...asPublic, authorization: "Bearer sk_live_none" }
        assert.strictEqual(yield* statusOf(pretending, 16 * 1024 + 1, "/api/auth/refresh"), 413)
      })
    )

    it.effect("refuse with the documented body, and with the same wait in the header", () =>
      Effect.gen(function* () {
        yield* withinMinute(5)
        const { consumer } = yield* Usher
        const { publishableKey } = yield* organization({ consumerApiPerMinute: 1 })
        yield* consumer(guestSession(publishableKey))
        const waits = new Set<number>()
        for (let request = 0; request < 40; request++) {
          const { status, body, headers } = yield* consumer(guestSession(publishableKey))
          assert.strictEqual(status, 429)
          assert.deepStrictEqual(body, { error: "Rate limit exceeded", retryAfter: Number(headers["retry-after"]) })
          assert.match(headers["retry-after"]!, /^[1-9]\d*$/)
          assert.strictEqual(headers["access-control-allow-origin"], "*")
          waits.add(body.retryAfter)
        }
        assert.isAbove(waits.size, 5)
      })
    )

    it.effect("refuse before any other work", () =>
      Effect.gen(function* () {
        yield* withinMinute(5)
        const { consumer, admin } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        const { organizationId, publishableKey, secretKey } = yield* organization({
          consumerApiPerMinute: 1,
          adminApiPerMinute: 1
        })
        const create: Call = {
          method: "POST",
          path: "/api/experiences",
          headers: asServer(secretKey),
          body: { name: "Drop" }
        }
        assert.strictEqual((yield* consumer(guestSession(publishableKey))).status, 200)
        assert.strictEqual((yield* admin(create)).status, 201)
        for (let request = 0; request < 3; request++) {
          assert.strictEqual((yield* consumer(guestSession(publishableKey))).status, 429)
          assert.strictEqual((yield* admin(create)).status, 429)
          // It neither decodes the body nor looks up the consumer.
          assert.strictEqual((yield* admin({ ...create, body: "{" })).status, 429)
          const headers = asServer(secretKey, anyId)
          const status = yield* consumer({ path: `/api/queues/${anyId}/status`, headers })
          assert.strictEqual(status.status, request === 0 ? 404 : 429, "servers have a budget of their own")
        }
        const [counted] = yield* sql`
          select (select count(*)::int from sessions where organization_id = ${organizationId}) as sessions,
                 (select count(*)::int from experiences where organization_id = ${organizationId}) as experiences`
        assert.deepStrictEqual({ ...counted }, { sessions: 1, experiences: 1 })
      })
    )

    it.effect("of a category are declared on its endpoint", () =>
      Effect.gen(function* () {
        yield* withinMinute(5)
        const { consumer, guest } = yield* Usher
        const { publishableKey, secretKey } = yield* organization({
          queueEntriesPerMinute: 2,
          externalAuthorizationsPerMinute: 1
        })
        const { accessToken } = yield* guest(publishableKey)
        const act = (action: string, method = "POST") =>
          Effect.map(
            consumer({
              method,
              path: `/api/queues/${anyId}/${action}`,
              headers: asConsumer(publishableKey, accessToken)
            }),
            ({ status }) => status
          )
        assert.deepStrictEqual([yield* act("enter"), yield* act("enter"), yield* act("enter")], [404, 404, 429])
        assert.deepStrictEqual([yield* act("leave"), yield* act("status", "GET")], [404, 404])
        const vouch = consumer({
          method: "POST",
          path: "/api/auth/external/authorize",
          headers: asServer(secretKey),
          body: { provider: "shop", issuer: "shop", subject: "1" }
        })
        assert.deepStrictEqual([(yield* vouch).status, (yield* vouch).status], [200, 429])
      })
    )

    it.effect("count a logout, which has only a token, for the token's organization", () =>
      Effect.gen(function* () {
        yield* withinMinute(5)
        const { consumer, guest } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        const { organizationId, publishableKey, testPublishableKey } = yield* organization({ consumerApiPerMinute: 5 })
        const [ann, bob, kim] = [
          yield* guest(publishableKey),
          yield* guest(testPublishableKey),
          yield* guest(publishableKey)
        ]
        const logout = ({ accessToken }: Fixture.Guest) =>
          consumer({ method: "POST", path: "/api/auth/logout", headers: { authorization: `Bearer ${accessToken}` } })
        const summary = (answer: Answer) => [answer.status, ...figures(answer).slice(0, 2)]
        assert.deepStrictEqual(summary(yield* logout(ann)), [204, 5, 1])
        const ended = yield* logout(ann)
        assert.deepStrictEqual(
          [ended.status, figures(ended)[0]],
          [401, 5_000],
          "an ended token identifies no organization"
        )
        assert.deepStrictEqual(summary(yield* logout(bob)), [204, 5, 0])
        const refused = yield* logout(kim)
        assert.deepStrictEqual(summary(refused), [429, 5, 0])
        assert.deepStrictEqual(refused.body, {
          error: "Rate limit exceeded",
          retryAfter: Number(refused.headers["retry-after"])
        })
        const [counted] = yield* sql`
          select count(*)::int as alive from sessions
          where organization_id = ${organizationId} and revoked_at is null`
        assert.deepStrictEqual({ ...counted }, { alive: 1 })
      })
    )

    it.effect("are in the headers for unknown callers, and do not apply outside /api", () =>
      Effect.gen(function* () {
        const { consumer, admin } = yield* Usher
        const refused = yield* consumer({ path: `/api/queues/${anyId}` })
        assert.strictEqual(refused.status, 401)
        assert.strictEqual(figures(refused)[0], 5_000)
        const unknown = yield* admin({ path: "/api/nothing" })
        assert.strictEqual(unknown.status, 404)
        assert.strictEqual(figures(unknown)[0], 1_000)
        const preflight = yield* consumer({
          method: "OPTIONS",
          path: "/api/auth/guest",
          headers: { origin: "https://shop.example", "access-control-request-method": "POST" }
        })
        assert.deepStrictEqual([preflight.status, figures(preflight)[0]], [204, 5_000])
        for (const path of ["/health", "/ready", "/openapi.json", "/docs", "/nothing"]) {
          assert.isUndefined((yield* admin({ path })).headers["x-ratelimit-limit"], path)
        }
      })
    )

    it.effect("limit bad keys by address, and then look up no further key in the database", () =>
      Effect.gen(function* () {
        yield* withinMinute(15)
        const { admin, brand } = yield* Usher
        const known = { path: "/api/experiences", headers: asServer(brand.secretKey) }
        assert.strictEqual((yield* admin(known)).status, 200)
        const bad = admin({ path: "/api/experiences", headers: asServer("sk_live_none") })
        const statuses = yield* Effect.replicateEffect(
          Effect.map(bad, ({ status }) => status),
          1_020,
          { concurrency: 8 }
        )
        assert.deepStrictEqual(new Set(statuses), new Set([401, 429]))
        const last = yield* bad
        assert.deepStrictEqual([last.status, figures(last)[1]], [429, 0])
        assert.match(last.headers["retry-after"]!, /^[1-9]\d*$/)
        const fresh = yield* organization({})
        assert.strictEqual((yield* admin({ ...known, headers: asServer(fresh.secretKey) })).status, 429)
        assert.strictEqual((yield* admin(known)).status, 200, "a cached key still works")
      })
    )
  })
})

describe("The address a request is counted under", () => {
  const remaining = (forwardedFor: string) =>
    Effect.gen(function* () {
      const { adminUrl } = yield* Server.Listeners
      const answer = yield* send(adminUrl, {
        path: "/api/nothing",
        headers: { "x-forwarded-for": forwardedFor, "x-forwarded-proto": "https" }
      })
      return figures(answer)[1]
    })

  layer(layerWith(Layer.empty), { excludeTestServices: true })("without trusted proxies", (it) => {
    it.effect("is the peer's, in spite of its header", () =>
      Effect.gen(function* () {
        yield* withinMinute(3)
        const seen = [yield* remaining("203.0.113.1"), yield* remaining("203.0.113.2"), yield* remaining("junk")]
        assert.deepStrictEqual(seen, [999, 998, 997])
      })
    )
  })

  const trustedProxies = [IpNetwork.fromStringUnsafe("127.0.0.0/8"), IpNetwork.fromStringUnsafe("10.0.0.0/8")]
  layer(layerWith(Layer.empty, { trustedProxies }), { excludeTestServices: true })("behind a trusted proxy", (it) => {
    it.effect("is the nearest that is not a trusted proxy, and a /64 for an IPv6 client", () =>
      Effect.gen(function* () {
        yield* withinMinute(3)
        assert.strictEqual(yield* remaining("203.0.113.1"), 999)
        assert.strictEqual(yield* remaining("203.0.113.2"), 999)
        assert.strictEqual(yield* remaining("198.51.100.9, 203.0.113.1"), 998, "the client's own prefix is ignored")
        assert.strictEqual(yield* remaining("203.0.113.1, 10.2.3.4"), 997)
        assert.strictEqual(yield* remaining("203.0.113.1:4711"), 996)
        assert.strictEqual(yield* remaining("::ffff:203.0.113.1"), 995)
        assert.strictEqual(yield* remaining("2001:db8::1"), 999)
        assert.strictEqual(yield* remaining("[2001:db8::2]:443"), 998)
        assert.strictEqual(yield* remaining("2001:db8:0:1::1"), 999)
      })
    )
  })
})
