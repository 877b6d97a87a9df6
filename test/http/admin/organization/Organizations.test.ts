/** The settings of an organization, and their effect on every server. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect } from "effect"
import { decodeJwt } from "jose"
import { randomUUID } from "node:crypto"
import { OrganizationChanges } from "../../../../src/auth/keys/OrganizationChanges.ts"
import { Organizations } from "../../../../src/auth/keys/Organizations.ts"
import * as Server from "../../../../src/http/server/Server.ts"
import { issuesOf } from "../adminFixture.ts"
import { type Answer, asConsumer, asServer, type Call, send, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"

/** Creates an organization, and returns its settings and its requests to a server. */
const anOrganization = Effect.fnUntraced(function* (plan: "growth" | "enterprise" = "enterprise") {
  const { admin, consumerUrl } = yield* Usher
  const keys = yield* (yield* Organizations).create({ name: "Brand", plan })
  const path = "/api/organizations/me"
  const browse = (call: Call & { readonly at?: string }) =>
    send(call.at ?? consumerUrl, { ...call, headers: { "x-publishable-key": keys.publishableKey, ...call.headers } })
  return {
    ...keys,
    read: (key = keys.secretKey) => admin({ path, headers: asServer(key) }),
    set: (body: object, key = keys.secretKey) => admin({ method: "PUT", path, headers: asServer(key), body }),
    browse,
    guest: (at?: string) =>
      Effect.map(
        browse({ method: "POST", path: "/api/auth/guest", ...(at !== undefined && { at }) }),
        ({ body }) => body
      )
  }
})

const allowed = ({ headers }: Answer) => headers["access-control-allow-origin"]

/** Waits, where necessary, until enough of the minute remains. */
const withinMinute = Effect.suspend(() => {
  const left = 60_000 - (Date.now() % 60_000)
  return left > 20_000 ? Effect.void : Effect.sleep(left + 50)
})

const secondsOf = (token: string) => {
  const { exp, iat } = decodeJwt(token)
  return exp! - iat!
}

describe("An organization on the Admin API", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("is shown with its plan's limits, and with null for each unset field", () =>
      Effect.gen(function* () {
        const { organizationId, read, testSecretKey } = yield* anOrganization("growth")
        const { status, body } = yield* read()
        const { createdAt, rateLimits, ...rest } = body
        assert.strictEqual(status, 200)
        assert.match(createdAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
        assert.deepInclude(rateLimits, {
          adminApiPerMinute: 1000,
          consumerApiPerMinute: 5000,
          queueEntriesPerSecond: 100
        })
        assert.deepStrictEqual(rest, {
          id: organizationId,
          name: "Brand",
          plan: "growth",
          loadLeave: null,
          allowedOrigins: null,
          timeZone: null,
          currencyCode: null,
          accessTokenTtlSeconds: null,
          refreshTokenTtlSeconds: null,
          loyaltyFullScoreBalance: null,
          grantMessages: null,
          defaultCountry: null,
          smsCountries: null,
          smsCodesPerDay: null,
          challenge: null,
          oneAccountPerMailbox: null,
          operationsEmail: null,
          theme: null,
          updatedAt: null,
          updatedBy: null
        })
        assert.deepStrictEqual((yield* read(testSecretKey)).body, body)
        const unlimited = yield* (yield* anOrganization("enterprise")).read()
        assert.deepStrictEqual([...new Set(Object.values(unlimited.body.rateLimits))], [null])
      })
    )

    it.effect("sets the fields that are sent, keeps the others, and takes null for the default", () =>
      Effect.gen(function* () {
        const { set, read } = yield* anOrganization("growth")
        const settings = {
          name: "Atelier Nord",
          allowedOrigins: ["https://shop.example", "http://localhost:3000"],
          timeZone: "Europe/Berlin",
          currencyCode: "EUR",
          accessTokenTtlSeconds: 600,
          refreshTokenTtlSeconds: 86_400,
          loyaltyFullScoreBalance: 250.5,
          grantMessages: "sms",
          defaultCountry: "DE",
          smsCountries: ["DE", "AT"],
          smsCodesPerDay: 50,
          operationsEmail: "ops@shop.example",
          theme: { primary: "#123456", variant: "rounded", logoUrl: "https://shop.example/logo.png" }
        }
        const changed = yield* set({ ...settings, plan: "enterprise", rateLimits: { adminApiPerMinute: 1 }, id: "x" })
        assert.strictEqual(changed.status, 200)
        assert.deepInclude(changed.body, { ...settings, plan: "growth" })
        assert.strictEqual(changed.body.rateLimits.adminApiPerMinute, 1000)
        assert.match(changed.body.updatedBy, /^api_key:/)
        assert.deepStrictEqual((yield* read()).body, changed.body)
        const next = yield* set({ theme: null, allowedOrigins: [], timeZone: null })
        assert.deepInclude(next.body, { ...settings, theme: null, allowedOrigins: null, timeZone: null })
        assert.strictEqual((yield* set({})).body.name, "Atelier Nord")
      })
    )

    it.effect("receives every mistake in one answer, and nothing changes", () =>
      Effect.gen(function* () {
        const { set, read } = yield* anOrganization()
        const before = (yield* read()).body
        const refused = yield* set({
          name: "",
          allowedOrigins: ["https://shop.example", "https://shop.example/path", "http://shop.example"],
          timeZone: "Mars",
          currencyCode: "euro",
          accessTokenTtlSeconds: 59,
          refreshTokenTtlSeconds: 1e9,
          loyaltyFullScoreBalance: 0,
          theme: { logoUrl: "logo.png" }
        })
        assert.deepStrictEqual(issuesOf(refused as never), [
          "accessTokenTtlSeconds: min_value",
          "allowedOrigins.1: string",
          "allowedOrigins.2: string",
          "currencyCode: picklist",
          "loyaltyFullScoreBalance: min_value",
          "name: min_length",
          "refreshTokenTtlSeconds: max_value",
          "theme.logoUrl: string",
          "timeZone: picklist"
        ])
        const many = Array.from({ length: 101 }, (_, index) => `https://shop-${index}.example`)
        assert.deepStrictEqual(issuesOf((yield* set({ allowedOrigins: many })) as never), [
          "allowedOrigins: max_length"
        ])
        assert.deepStrictEqual(
          issuesOf((yield* set({ accessTokenTtlSeconds: 7_200, refreshTokenTtlSeconds: 3_600 })) as never),
          ["refreshTokenTtlSeconds: min_value"]
        )
        yield* set({ refreshTokenTtlSeconds: 3_600 })
        assert.deepStrictEqual(issuesOf((yield* set({ accessTokenTtlSeconds: 3_601 })) as never), [
          "accessTokenTtlSeconds: max_value"
        ])
        yield* set({ refreshTokenTtlSeconds: null })
        const { updatedAt: _, updatedBy: __, ...after } = (yield* read()).body
        assert.deepInclude(before, after)
      })
    )

    it.effect("is not changed by a test key", () =>
      Effect.gen(function* () {
        const { set, read, testSecretKey } = yield* anOrganization()
        const refused = yield* set({ name: "Another" }, testSecretKey)
        assert.deepStrictEqual([refused.status, refused.body], [403, { error: "Live secret key required" }])
        assert.strictEqual((yield* read()).body.name, "Brand")
      })
    )

    it.effect("applies its change on every server as soon as the change is answered", () =>
      Effect.gen(function* () {
        const other = yield* Fixture.anotherServer
        const { consumerUrl: at } = Context.get(other, Server.Listeners)
        const { set, browse, guest, organizationId } = yield* anOrganization()
        const origin = "https://shop.example"
        const read = (from: string) => browse({ at, path: `/api/queues/${randomUUID()}`, headers: { origin: from } })
        const before = yield* guest(at)
        assert.deepStrictEqual([secondsOf(before.accessToken), secondsOf(before.refreshToken)], [3_600, 2_592_000])
        for (let round = 0; round < 5; round++) {
          yield* set({ allowedOrigins: [origin], accessTokenTtlSeconds: 120, refreshTokenTtlSeconds: 7_200 })
          assert.strictEqual(allowed(yield* read(origin)), origin)
          assert.isUndefined(allowed(yield* read("https://anywhere.example")))
          const after = yield* guest(at)
          assert.deepStrictEqual([secondsOf(after.accessToken), secondsOf(after.refreshToken)], [120, 7_200])
          assert.strictEqual(after.refreshTokenTtlSeconds, 7_200)
          const refresh = { refreshToken: after.refreshToken }
          const refreshed = yield* browse({ at, method: "POST", path: "/api/auth/refresh", body: refresh })
          assert.strictEqual(secondsOf(refreshed.body.accessToken), 120)
          yield* set({ allowedOrigins: null, accessTokenTtlSeconds: null, refreshTokenTtlSeconds: null })
          assert.strictEqual(allowed(yield* read("https://anywhere.example")), "*")
          assert.strictEqual(secondsOf((yield* guest(at)).accessToken), 3_600)
        }
        const changes = yield* OrganizationChanges
        const limitOf = ({ headers }: Answer) => headers["x-ratelimit-limit"]
        yield* changes.setPlan(organizationId, "operator", "starter")
        assert.strictEqual(limitOf(yield* read(origin)), "2000")
        yield* changes.setPlan(organizationId, "operator", "enterprise", { consumerApiPerMinute: 77 })
        assert.strictEqual(limitOf(yield* read(origin)), "77")
        const error = yield* Effect.flip(changes.setPlan(randomUUID(), "operator", "starter"))
        assert.strictEqual(error._tag, "OrganizationNotFound")
      })
    )

    it.effect("has only the operator's permission to load test mode, until it ends, and cannot change it", () =>
      Effect.gen(function* () {
        const { organizationId, publishableKey, testPublishableKey, read, set, browse } =
          yield* anOrganization("growth")
        const changes = yield* OrganizationChanges
        const limitOf = (key: string) =>
          Effect.map(
            browse({ path: "/api/queues/none", headers: { "x-publishable-key": key } }),
            ({ headers }) => headers["x-ratelimit-limit"]
          )
        assert.strictEqual(yield* limitOf(testPublishableKey), "5000")
        const until = Date.now() + 60_000
        yield* changes.allowLoad(organizationId, "operator", { until, perSecond: 300 })
        assert.deepStrictEqual([yield* limitOf(testPublishableKey), yield* limitOf(publishableKey)], ["18000", "5000"])
        assert.deepStrictEqual((yield* read()).body.loadLeave, {
          until: new Date(until).toISOString(),
          perSecond: 300
        })
        yield* set({ timeZone: "Asia/Tokyo" })
        assert.strictEqual(yield* limitOf(testPublishableKey), "18000")
        yield* changes.allowLoad(organizationId, "operator", { until: Date.now() - 1, perSecond: 300 })
        assert.strictEqual(yield* limitOf(testPublishableKey), "5000")
      })
    )

    it.effect("gives its experiences a time zone, a currency and a design where they name none", () =>
      Effect.gen(function* () {
        const { admin } = yield* Usher
        const { set, browse, secretKey } = yield* anOrganization()
        const create = (body: object) =>
          admin({ method: "POST", path: "/api/experiences", headers: asServer(secretKey), body })
        const { id: former } = (yield* create({ name: "Drop" })).body
        const theme = { primary: "#111", text: "#222" }
        yield* set({ timeZone: "Asia/Tokyo", currencyCode: "JPY", theme })
        const made = (yield* create({ name: "Drop", theme: { primary: "#333" } })).body
        assert.deepInclude(made, { timeZone: "Asia/Tokyo", currencyCode: "JPY", theme: { primary: "#333" } })
        const shown = (id: string) => Effect.map(browse({ path: `/api/experiences/${id}` }), ({ body }) => body)
        assert.deepStrictEqual((yield* shown(made.id)).theme, { primary: "#333", text: "#222" })
        assert.deepInclude(yield* shown(former), { timeZone: "UTC", currencyCode: "USD", theme })
        yield* set({ theme: null })
        assert.isNull((yield* shown(former)).theme)
      })
    )

    it.effect("hides every answer, refusals too, from the web pages of other origins", () =>
      Effect.gen(function* () {
        const { set, browse, guest, organizationId, publishableKey, secretKey } = yield* anOrganization()
        const origin = "https://shop.example"
        yield* set({ allowedOrigins: [origin] })
        const { accessToken } = yield* guest()
        const path = `/api/queues/${randomUUID()}/status`
        const consumer = asConsumer(publishableKey, accessToken)
        const calls: ReadonlyArray<readonly [status: number, call: Call]> = [
          [404, { path, headers: consumer }],
          [400, { path: "/api/queues/none/status", headers: consumer }],
          [401, { path, headers: asConsumer(publishableKey, "hello") }],
          [401, { path, headers: { "x-publishable-key": publishableKey } }],
          [400, { path, headers: asServer(secretKey, "me") }],
          [404, { path, headers: asServer(secretKey, randomUUID()) }],
          [401, { method: "POST", path: "/api/auth/refresh", body: { refreshToken: "hello" } }],
          [415, { method: "POST", path: "/api/auth/refresh", body: "a", headers: { "content-type": "text/plain" } }]
        ]
        const expect = Effect.fnUntraced(function* (status: number, call: Call) {
          for (const [from, told] of [
            [origin, origin],
            ["https://anywhere.example", undefined]
          ] as const) {
            const answer = yield* browse({ ...call, headers: { ...call.headers, origin: from } })
            assert.deepStrictEqual([answer.status, allowed(answer)], [status, told], JSON.stringify(call))
          }
        })
        for (const [status, call] of calls) yield* expect(status, call)
        const { admin } = yield* Usher
        const byServer = yield* admin({ path: "/api/experiences", headers: { ...asServer(secretKey), origin } })
        assert.deepStrictEqual([byServer.status, allowed(byServer)], [200, undefined])
        yield* (yield* OrganizationChanges).setPlan(organizationId, "operator", "enterprise", {
          consumerApiPerMinute: 1
        })
        yield* withinMinute
        yield* browse({ path, headers: consumer })
        for (const call of [{ path, headers: consumer }, { path: "/api/queues/none" }]) yield* expect(429, call)
      })
    )
  })
})
