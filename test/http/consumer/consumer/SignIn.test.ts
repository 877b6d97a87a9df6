/** The ways to sign in from a client's view, with a mail server in this process. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Logger, Option, Redacted, References, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { type Mail, mailServer } from "../../../delivery/mailServer.ts"
import { type Answer, asConsumer, asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"

const mails: Array<Mail> = []
const logged: Array<string> = []

/** Both APIs with a mail server, and their log at every level. */
const served = Layer.unwrap(
  Effect.map(mailServer(), (server) => {
    const { port } = server
    const settings = {
      smtpUrl: Option.some(Redacted.make(`smtp://127.0.0.1:${port}`)),
      emailFrom: "no-reply@example.com"
    }
    server.mails.push = (...arrived) => mails.push(...arrived)
    return Fixture.layerWith(settings)
  })
).pipe(
  Layer.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => void logged.push(line))])),
  Layer.provide(Layer.succeed(References.MinimumLogLevel, "All"))
)

const post = Effect.fnUntraced(function* (path: string, body?: unknown, headers?: { readonly [name: string]: string }) {
  const { consumer, brand } = yield* Usher
  return yield* consumer({
    method: "POST",
    path: `/api/auth/${path}`,
    headers: { "x-publishable-key": brand.publishableKey, ...headers },
    body
  })
})

/** Fails unless the instant is so long after a moment between `began` and now. Tokens have whole seconds. */
const endsAfter = (millis: number, began: number, instant: string) => {
  const from = Date.parse(instant) - millis
  assert.isAtLeast(from, began - 1_000)
  assert.isAtMost(from, Date.now() + 1_000)
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Waits for a mail to the address, and returns the code in the latest one. */
const mailedCode = (to: string) =>
  Effect.sync(() => mails.findLast((mail) => mail.to.includes(to))).pipe(
    Effect.repeat({ until: (mail) => mail !== undefined, schedule: Schedule.spaced("5 millis") }),
    Effect.timeout("20 minutes"),
    Effect.map((mail) => {
      mails.splice(mails.indexOf(mail!), 1)
      return /\b(\d{6}) is your code/.exec(mail!.text)![1]!
    })
  )

/** Returns the code in the latest SMS to the number. */
const textedCode = Effect.fnUntraced(function* (to: string) {
  const { admin, brand } = yield* Usher
  const read = admin({ path: `/api/outbox?to=${encodeURIComponent(to)}`, headers: asServer(brand.secretKey) })
  const { body } = yield* Effect.repeat(read, {
    until: (answer) => answer.body.data.length > 0,
    schedule: Schedule.spaced("5 millis")
  }).pipe(Effect.timeout("20 minutes"))
  return /\b\d{6}\b/.exec(body.data[0].text)![0]
})

const statusOf = Effect.fnUntraced(function* (queueId: string, accessToken: string) {
  const { consumer, brand } = yield* Usher
  return yield* consumer({
    path: `/api/queues/${queueId}/status`,
    headers: asConsumer(brand.publishableKey, accessToken)
  })
})

const verdict = ({ status, body }: Answer) => [status, body.error ?? body]
const keys = (body: object) => Object.keys(body).toSorted()
const sessionKeys = ["accessToken", "refreshToken", "refreshTokenTtlSeconds", "session"]

const tables = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    select (select count(*)::int from consumers) as consumers, (select count(*)::int from sessions) as sessions,
      (select count(*)::int from one_time_codes) as codes, (select count(*)::int from exchange_codes) as exchanges,
      (select count(*)::int from external_identities) as identities`
)

describe("A consumer", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("signs in by email, stays the same consumer as the guest before, and keeps its place", () =>
      Effect.gen(function* () {
        const { consumer, brand, guest, queue } = yield* Usher
        const visitor = yield* guest()
        const queueId = yield* queue()
        const headers = asConsumer(brand.publishableKey, visitor.accessToken)
        yield* consumer({ method: "POST", path: `/api/queues/${queueId}/enter`, headers })
        const request = yield* post("otp/request", { email: " Ann@Example.com " })
        assert.deepStrictEqual([request.status, keys(request.body), request.body.ok], [200, ["ok", "requestId"], true])
        const code = yield* mailedCode("ann@example.com")
        const wrong = yield* post("otp/verify", {
          email: "ann@example.com",
          code: `${(Number(code) + 1) % 1e6}`.padStart(6, "0")
        })
        assert.deepStrictEqual(wrong.body, { error: "otp_invalid", message: "The code is wrong." })
        const { status, body } = yield* post(
          "otp/verify",
          { email: "ANN@example.com", code },
          bearer(visitor.accessToken)
        )
        assert.deepStrictEqual([status, keys(body)], [200, sessionKeys])
        const { expiresAt, ...session } = body.session
        assert.deepStrictEqual(session, {
          type: "authenticated",
          consumerId: visitor.consumerId,
          email: "ann@example.com"
        })
        assert.isAbove(Date.parse(expiresAt), Date.now() + 29 * 86_400_000)
        assert.strictEqual((yield* statusOf(queueId, body.accessToken)).body.position, 1)
        assert.strictEqual((yield* statusOf(queueId, visitor.accessToken)).status, 401)
        const replay = yield* post("otp/verify", { email: "ann@example.com", code })
        assert.deepStrictEqual([replay.status, replay.body.error], [401, "otp_expired"])
      })
    )

    it.effect("signs in by phone, in every notation of the number, as the same consumer", () =>
      Effect.gen(function* () {
        const notations = [
          { phone: "0151 23456789", defaultCountry: "DE" },
          { phone: "+49 151 23456789" },
          { phone: "011 49 151 23456789", defaultCountry: "us" }
        ]
        const consumers = new Set<string>()
        for (const [index, address] of notations.entries()) {
          assert.isTrue((yield* post("otp/request", address)).body.ok)
          yield* Effect.sleep("50 millis")
          const code = yield* textedCode("+4915123456789")
          const { body } = yield* post("otp/verify", { ...notations[(index + 1) % 3], code })
          assert.strictEqual(body.session.phone, "+4915123456789")
          consumers.add(body.session.consumerId)
        }
        assert.strictEqual(consumers.size, 1)
      })
    )

    it.effect("signs in through its organization's server", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
        const identity = { provider: "shop", issuer: "https://shop.example", subject: "42" }
        const authorize = (claims: object) =>
          consumer({
            method: "POST",
            path: "/api/auth/external/authorize",
            headers: asServer(brand.secretKey),
            body: { ...identity, claims }
          })
        const began = Date.now()
        const { status, body } = yield* authorize({
          email_verified: true,
          email: "Bob@Example.com",
          name: "Bob",
          other: { deep: [1] }
        })
        assert.deepStrictEqual(
          [status, keys(body), body.resolution],
          [200, ["exchangeCode", "expiresAt", "resolution"], "created"]
        )
        endsAfter(60_000, began, body.expiresAt)
        const session = yield* post("external/exchange", { exchangeCode: body.exchangeCode })
        assert.deepStrictEqual(keys(session.body), sessionKeys)
        assert.deepInclude(session.body.session, { type: "authenticated", email: "bob@example.com" })
        const again = yield* post("external/exchange", { exchangeCode: body.exchangeCode })
        assert.deepStrictEqual([again.status, again.body], [401, { error: "invalid_exchange_code" }])
        assert.strictEqual((yield* authorize({})).body.resolution, "existing")
        // From now on, the email that the server confirmed belongs to the consumer.
        yield* post("otp/request", { email: "bob@example.com" })
        const byMail = yield* post("otp/verify", {
          email: "bob@example.com",
          code: yield* mailedCode("bob@example.com")
        })
        assert.strictEqual(byMail.body.session.consumerId, session.body.session.consumerId)
      })
    )

    it.effect("refreshes its session, also after a lost answer, and loses it when an older token is used", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const queueId = yield* queue()
        const { refreshToken } = yield* guest()
        const began = Date.now()
        const { status, body } = yield* post("refresh", { refreshToken })
        const fields = ["accessToken", "accessTokenExpiresAt", "refreshToken", "refreshTokenTtlSeconds"]
        assert.deepStrictEqual([status, keys(body)], [200, fields])
        endsAfter(3_600_000, began, body.accessTokenExpiresAt)
        assert.strictEqual((yield* statusOf(queueId, body.accessToken)).status, 200)
        const again = yield* post("refresh", { refreshToken })
        assert.deepStrictEqual([again.status, keys(again.body)], [200, fields])
        assert.strictEqual(again.body.refreshToken, body.refreshToken)
        assert.strictEqual((yield* statusOf(queueId, again.body.accessToken)).status, 200)
        const next = (yield* post("refresh", { refreshToken: body.refreshToken })).body
        assert.notStrictEqual(next.refreshToken, body.refreshToken)
        const invalid = [401, "Invalid refresh token"]
        assert.deepStrictEqual(verdict(yield* post("refresh", { refreshToken })), invalid)
        assert.deepStrictEqual(verdict(yield* post("refresh", { refreshToken: next.refreshToken })), invalid)
        for (const { accessToken } of [body, again.body, next]) {
          assert.deepStrictEqual(verdict(yield* statusOf(queueId, accessToken)), [401, "Authentication required"])
        }
      })
    )

    it.effect("keeps its session and its place when two tabs refresh at once", () =>
      Effect.gen(function* () {
        const { consumer, brand, guest, queue } = yield* Usher
        const queueId = yield* queue()
        const visitor = yield* guest()
        const headers = asConsumer(brand.publishableKey, visitor.accessToken)
        yield* consumer({ method: "POST", path: `/api/queues/${queueId}/enter`, headers })
        const tab = post("refresh", { refreshToken: visitor.refreshToken })
        const tabs = yield* Effect.all([tab, tab], { concurrency: "unbounded" })
        assert.deepStrictEqual(
          tabs.map(({ status }) => status),
          [200, 200]
        )
        assert.strictEqual(tabs[0].body.refreshToken, tabs[1].body.refreshToken)
        for (const { body } of tabs) assert.strictEqual((yield* statusOf(queueId, body.accessToken)).body.position, 1)
      })
    )

    it.effect("logs out, and all tokens of its session are invalid from then on", () =>
      Effect.gen(function* () {
        const { consumer, guest, queue } = yield* Usher
        const queueId = yield* queue()
        const { accessToken, refreshToken } = yield* guest()
        assert.strictEqual((yield* statusOf(queueId, accessToken)).status, 200)
        const logout = consumer({ method: "POST", path: "/api/auth/logout", headers: bearer(accessToken) })
        const { status, text } = yield* logout
        assert.deepStrictEqual([status, text], [204, ""])
        assert.strictEqual((yield* statusOf(queueId, accessToken)).status, 401)
        assert.strictEqual((yield* logout).status, 401)
        assert.deepStrictEqual(verdict(yield* post("refresh", { refreshToken })), [401, "Invalid refresh token"])
      })
    )

    it.effect("gets five codes in ten minutes, and then receives the time of the next attempt", () =>
      Effect.gen(function* () {
        for (let index = 0; index < 5; index++) {
          assert.strictEqual((yield* post("otp/request", { email: "eager@example.com" })).status, 200)
        }
        const { status, body, headers } = yield* post("otp/request", { email: "Eager@Example.com" })
        assert.strictEqual(status, 429)
        assert.deepStrictEqual(keys(body), ["error", "retryAfter"])
        assert.strictEqual(body.error, "Rate limit exceeded")
        assert.strictEqual(headers["retry-after"], `${body.retryAfter}`)
        assert.isTrue(body.retryAfter > 590 && body.retryAfter <= 600)
        assert.deepStrictEqual([headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]], ["5", "0"])
        const resetIn = Number(headers["x-ratelimit-reset"]) - Date.parse(headers["date"]!) / 1_000
        assert.approximately(resetIn, body.retryAfter, 2)
        const another = yield* post("otp/request", { email: "patient@example.com" })
        assert.notStrictEqual(another.headers["x-ratelimit-limit"], "5", "where it does not refuse, it is not told")
      })
    )

    it.effect("receives all mistakes of a request; nothing of it is stored, and no secret is repeated", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
        const before = yield* tables
        const canary = "canary-secret"
        const wrong: ReadonlyArray<readonly [string, unknown, string, string]> = [
          ["otp/request", {}, "email", "string"],
          ["otp/request", { email: 5 }, "email", "string"],
          ["otp/request", { email: "ann" }, "email", "email"],
          ["otp/request", { email: "a@b.example, c@d.example" }, "email", "email"],
          ["otp/request", { email: "ann@example.com\u0000" }, "email", "string"],
          ["otp/request", { phone: "0151 12345678" }, "phone", "phone"],
          ["otp/request", { phone: "+999 1234567" }, "phone", "phone"],
          ["otp/request", { phone: "12", defaultCountry: "DE" }, "phone", "phone"],
          ["otp/request", { phone: "1".repeat(1_000), defaultCountry: "DE" }, "phone", "max_length"],
          ["otp/request", { phone: "0151 12345678", defaultCountry: "XX" }, "defaultCountry", "picklist"],
          ["otp/request", { phone: "0151 12345678", defaultCountry: "DEU" }, "defaultCountry", "picklist"],
          ["otp/request", { email: "ann@example.com", phone: "+4915123456789" }, "phone", "picklist"],
          ["otp/request", { email: "ann", phone: "+4915123456789" }, "email", "picklist"],
          ["otp/request", { email: "ann@example.com", phone: 5 }, "phone", "picklist"],
          ["otp/verify", { email: "ann@example.com", phone: "+4915123456789", code: "123456" }, "phone", "picklist"],
          ["otp/verify", { email: "ann@example.com" }, "code", "string"],
          ["otp/verify", { email: "ann@example.com", code: 123456 }, "code", "string"],
          ["otp/verify", { email: "ann@example.com", code: canary.slice(0, 6) }, "code", "string"],
          ["otp/verify", { email: "ann@example.com", code: "12345" }, "code", "min_length"],
          ["otp/verify", { email: "ann@example.com", code: "1".repeat(16_000) }, "code", "max_length"],
          ["otp/verify", { email: "ann@example.com", code: "一二三四五六" }, "code", "string"],
          ["external/exchange", {}, "exchangeCode", "string"],
          ["external/exchange", { exchangeCode: [canary] }, "exchangeCode", "string"],
          ["refresh", { refreshToken: { canary } }, "refreshToken", "string"]
        ]
        for (const [path, body, field, type] of wrong) {
          const answer = yield* post(path, body)
          const [issue] = answer.body.issues ?? []
          const found = [answer.status, issue?.path[0].key, issue?.type]
          assert.deepStrictEqual(found, [400, field, type], `${path} ${JSON.stringify(body).slice(0, 80)}`)
          assert.notInclude(answer.text, "canary")
        }
        const identity = { provider: "p", issuer: "i", subject: "s" }
        const authorizations: ReadonlyArray<readonly [object, string]> = [
          [{ ...identity, claims: { text: "x".repeat(10_000) } }, "claims"],
          [{ ...identity, claims: "text" }, "claims"],
          [{ ...identity, claims: ["list"] }, "claims"],
          [{ ...identity, subject: "" }, "subject"],
          [{ ...identity, subject: "x".repeat(501) }, "subject"],
          [{ ...identity, issuer: "\u0000" }, "issuer"],
          [{ issuer: "i", subject: "s" }, "provider"]
        ]
        for (const [body, field] of authorizations) {
          const headers = asServer(brand.secretKey)
          const answer = yield* consumer({ method: "POST", path: "/api/auth/external/authorize", headers, body })
          assert.deepStrictEqual([answer.status, answer.body.issues?.[0].path[0].key], [400, field])
        }
        for (const text of ["", canary, "x".repeat(16_000)]) {
          assert.deepStrictEqual(verdict(yield* post("refresh", { refreshToken: text })), [
            401,
            "Invalid refresh token"
          ])
          assert.deepStrictEqual(verdict(yield* post("external/exchange", { exchangeCode: text })), [
            401,
            "invalid_exchange_code"
          ])
        }
        assert.deepStrictEqual(yield* tables, before)
      })
    )

    it.effect("requests a code for one address at a time; null counts as no address", () =>
      Effect.gen(function* () {
        const both = yield* post("otp/request", { email: "both@example.com", phone: "+4915123456789" })
        const [issue] = both.body.issues
        assert.strictEqual(
          issue.message,
          'Invalid value: Expected no phone number together with an email but received "+4915123456789"'
        )
        assert.strictEqual((yield* post("otp/request", { email: "both@example.com", phone: null })).status, 200)
        const code = yield* mailedCode("both@example.com")
        const verified = yield* post("otp/verify", { email: "both@example.com", phone: null, code })
        assert.strictEqual(verified.body.session.email, "both@example.com")
      })
    )

    it.effect("can send claims of exactly 10,000 characters", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
        const claims = { text: "x".repeat(10_000 - JSON.stringify({ text: "" }).length) }
        const body = { provider: "p", issuer: "i", subject: "long", claims }
        const answer = yield* consumer({
          method: "POST",
          path: "/api/auth/external/authorize",
          headers: asServer(brand.secretKey),
          body
        })
        assert.strictEqual(answer.status, 200)
      })
    )

    it.effect("leaves no secret in the log, at any level", () =>
      Effect.gen(function* () {
        const { brand, guest, consumer } = yield* Usher
        logged.length = 0
        const visitor = yield* guest()
        yield* post("otp/request", { email: "quiet@example.com" })
        const code = yield* mailedCode("quiet@example.com")
        const verified = (yield* post("otp/verify", { email: "quiet@example.com", code }, bearer(visitor.accessToken)))
          .body
        const refreshed = (yield* post("refresh", { refreshToken: verified.refreshToken })).body
        const authorized = yield* consumer({
          method: "POST",
          path: "/api/auth/external/authorize",
          headers: asServer(brand.secretKey),
          body: { provider: "p", issuer: "i", subject: "quiet" }
        })
        yield* post("external/exchange", { exchangeCode: authorized.body.exchangeCode })
        yield* post("external/exchange", { exchangeCode: authorized.body.exchangeCode })
        yield* post("refresh", { refreshToken: verified.refreshToken })
        yield* consumer({ method: "POST", path: "/api/auth/logout", headers: bearer(refreshed.accessToken) })
        const secrets = [
          code,
          authorized.body.exchangeCode,
          ...[visitor, verified, refreshed].flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken]),
          brand.secretKey,
          brand.publishableKey
        ]
        const log = logged.join("\n")
        for (const path of ["otp/request", "otp/verify", "refresh", "external/exchange", "logout"]) {
          assert.include(log, `POST /api/auth/${path}`)
        }
        for (const secret of secrets) assert.notInclude(log, secret)
        assert.notInclude(log, "quiet@example.com")
      })
    )
  })
})
