/** A consumer's profile and its places, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import * as Fixture from "../../support/usherFixture.ts"
import { type Answer, asConsumer, asServer, Usher } from "../../support/usherFixture.ts"
import { inQueue } from "../queue/queueFixture.ts"

const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe("A consumer on the Consumer API", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("reads its profile and its active places, with the same result as the organization's server", () =>
      Effect.gen(function* () {
        const { consumer, guest, queue, brand } = yield* Usher
        const someone = yield* guest()
        const me = consumer({
          path: "/api/consumers/me",
          headers: asConsumer(brand.publishableKey, someone.accessToken)
        })
        const { createdAt, ...fresh } = (yield* me).body
        assert.match(createdAt, isoUtc)
        assert.deepStrictEqual(fresh, {
          id: someone.consumerId,
          type: "guest",
          email: null,
          phone: null,
          name: null,
          fullName: null,
          places: []
        })
        const [waitingId, grantedId, leftId] = [
          yield* queue({ name: "Slow" }),
          yield* queue({ admissionExpirationSeconds: 600 }),
          yield* queue()
        ]
        const granted = yield* inQueue(grantedId)
        const left = yield* inQueue(leftId)
        yield* (yield* inQueue(waitingId)).enter(someone)
        yield* Effect.sleep("2 millis")
        yield* granted.enter(someone)
        yield* granted.admit({ consumerId: someone.consumerId })
        yield* left.enter(someone)
        yield* left.leave(someone)
        const answer = yield* me
        const [first, second, ...rest] = answer.body.places
        assert.deepStrictEqual(rest, [])
        const { experienceId, sequenceId } = (yield* granted.get).body
        assert.deepInclude(first, {
          distributionId: grantedId,
          type: "queue",
          experienceId,
          sequenceId,
          status: "GRANTED"
        })
        assert.match(first.expiresAt, isoUtc)
        assert.notProperty(first, "admissionGrant")
        assert.deepInclude(second, { distributionId: waitingId, name: "Slow", status: "QUEUED" })
        const path = `/api/consumers/${someone.consumerId}`
        const seen = yield* consumer({ path, headers: asServer(brand.secretKey) })
        assert.deepStrictEqual(seen.body, answer.body)
        const forIt = yield* consumer({
          path: "/api/consumers/me",
          headers: asServer(brand.secretKey, someone.consumerId)
        })
        assert.deepStrictEqual(forIt.body, answer.body)
      })
    )

    it.effect("is visible to its own organization's server alone, in its own mode", () =>
      Effect.gen(function* () {
        const { consumer, guest, brand, stranger } = yield* Usher
        const { consumerId } = yield* guest()
        const seen = (id: string, secretKey: string) =>
          Effect.map(
            consumer({ path: `/api/consumers/${id}`, headers: asServer(secretKey) }),
            ({ status, body }) => [status, body] as const
          )
        const notFound = [404, { error: "Consumer not found" }] as const
        assert.deepStrictEqual(yield* seen(consumerId, stranger.secretKey), notFound)
        assert.deepStrictEqual(yield* seen(consumerId, brand.testSecretKey), notFound)
        assert.deepStrictEqual(yield* seen("0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a", brand.secretKey), notFound)
        assert.strictEqual((yield* seen("nobody", brand.secretKey))[0], 400)
        assert.strictEqual((yield* seen(consumerId.toUpperCase(), brand.secretKey))[0], 200)
      })
    )

    it.effect("changes its names, keeps absent fields, and clears fields that are null", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const someone = yield* guest()
        const named = yield* asked("PUT", someone, { name: "Ann", fullName: "Ann Example", unheardOf: 1 })
        assert.deepInclude(named.body, { id: someone.consumerId, type: "guest", name: "Ann", fullName: "Ann Example" })
        assert.deepStrictEqual(named.body, (yield* asked("GET", someone)).body)
        const other = yield* asked("PUT", someone, { name: "Anna" })
        assert.deepInclude(other.body, { name: "Anna", fullName: "Ann Example" })
        assert.deepInclude((yield* asked("PUT", someone, { name: null })).body, { name: null, fullName: "Ann Example" })
        assert.deepInclude((yield* asked("PUT", someone, {})).body, { name: null, fullName: "Ann Example" })
        const record = yield* recordOf(someone)
        assert.deepInclude(record, { fullName: "Ann Example", updatedBy: `consumer:${someone.consumerId}` })
      })
    )

    it.effect("changes its email and its phone number with the code that was sent to the new address", () =>
      Effect.gen(function* () {
        const someone = yield* signedIn("before@example.com")
        const changed = yield* asked("PUT", someone, {
          email: "After@Example.com",
          code: yield* codeFor({ email: "after@example.com" })
        })
        assert.deepInclude(changed.body, { id: someone.consumerId, email: "after@example.com", phone: null })
        const phone = { phone: "0151 23456789", defaultCountry: "DE" }
        const reached = yield* asked("PUT", someone, { ...phone, name: "Ann", code: yield* codeFor(phone) })
        const whole = { name: "Ann", email: "after@example.com", phone: "+4915123456789" }
        assert.deepInclude(reached.body, whole)
        // The consumer is found by the new address, and no longer by the previous one.
        assert.strictEqual((yield* signedIn("after@example.com")).consumerId, someone.consumerId)
        assert.notStrictEqual((yield* signedIn("before@example.com")).consumerId, someone.consumerId)
        // An address that the consumer already has needs no code.
        assert.strictEqual((yield* asked("PUT", someone, { ...whole, email: "AFTER@example.com" })).status, 200)
      })
    )

    it.effect(
      "does not change an address without a code, with the code of another address, or with a used-up code",
      () =>
        Effect.gen(function* () {
          const someone = yield* signedIn("careful@example.com")
          const before = (yield* asked("GET", someone)).body
          const email = "wanted@example.com"
          const none = yield* asked("PUT", someone, { email, name: "Ann" })
          assert.deepStrictEqual(issuesOf(none), ["code: string"])
          const unsent = yield* asked("PUT", someone, { email, code: "123456" })
          assert.deepStrictEqual([unsent.status, unsent.body.error], [401, "otp_expired"])
          const code = yield* codeFor({ email })
          const wrong = yield* asked("PUT", someone, { email, name: "Ann", code: otherThan(code) })
          assert.deepStrictEqual(
            [wrong.status, wrong.body],
            [401, { error: "otp_invalid", message: "The code is wrong." }]
          )
          const elsewhere = yield* asked("PUT", someone, { email: "else@example.com", code })
          assert.deepStrictEqual([elsewhere.status, elsewhere.body.error], [401, "otp_expired"])
          const both = yield* asked("PUT", someone, { email, phone: "+4915123456780", code })
          assert.deepStrictEqual(issuesOf(both), ["phone: phone"])
          for (const wrong of [{ email: null }, { phone: null }, { name: "" }, { name: 5 }, { email: "ann" }]) {
            assert.strictEqual((yield* asked("PUT", someone, wrong)).status, 400, JSON.stringify(wrong))
          }
          assert.deepStrictEqual(issuesOf(yield* asked("PUT", someone, { phone: "12", code })), ["phone: phone"])
          assert.deepStrictEqual((yield* asked("GET", someone)).body, before)
          assert.strictEqual((yield* asked("PUT", someone, { email, code })).status, 200)
          yield* asked("PUT", someone, {
            email: "wanted-2@example.com",
            code: yield* codeFor({ email: "wanted-2@example.com" })
          })
          const used = yield* asked("PUT", someone, { email, code })
          assert.deepStrictEqual([used.status, used.body.error], [401, "otp_expired"])
          const guessed = "guessed@example.com"
          const right = yield* codeFor({ email: guessed })
          for (let guess = 1; guess <= 5; guess++)
            yield* asked("PUT", someone, { email: guessed, code: otherThan(right, guess) })
          assert.strictEqual((yield* asked("PUT", someone, { email: guessed, code: right })).body.error, "otp_expired")
        })
    )

    it.effect("is refused an address that another consumer has, and the code stays valid", () =>
      Effect.gen(function* () {
        const { brand } = yield* Usher
        const owner = yield* signedIn("owner@example.com")
        const someone = yield* signedIn("someone@example.com")
        const email = "owner@example.com"
        // Without the code no answer reveals that the address is in use.
        assert.strictEqual((yield* asked("PUT", someone, { email })).status, 400)
        const code = yield* codeFor({ email })
        assert.strictEqual((yield* asked("PUT", someone, { email, code: otherThan(code) })).status, 401)
        const taken = yield* asked("PUT", someone, { email, name: "Ann", code })
        const conflict = { error: "Email is another consumer's", code: "EMAIL_TAKEN" }
        assert.deepStrictEqual([taken.status, taken.body], [409, conflict])
        assert.deepInclude((yield* asked("GET", someone)).body, { email: "someone@example.com", name: null })
        const byServer = yield* asked("PUT", someone, { email }, asServer(brand.secretKey, someone.consumerId))
        assert.deepStrictEqual([byServer.status, byServer.body], [409, conflict])
        const verified = yield* verify({ email, code })
        assert.strictEqual(verified.body.session.consumerId, owner.consumerId)
      })
    )

    it.effect("that is a guest has no address unless its organization's server sets one", () =>
      Effect.gen(function* () {
        const { guest, brand } = yield* Usher
        const someone = yield* guest()
        const email = "guest@example.com"
        const code = yield* codeFor({ email })
        const refused = yield* asked("PUT", someone, { email, code, name: "Ann" })
        const error = "A guest has no address of its own: sign in with POST /auth/otp/verify"
        assert.deepStrictEqual([refused.status, refused.body], [403, { error }])
        assert.deepInclude((yield* asked("GET", someone)).body, { type: "guest", email: null, name: null })
        const byServer = yield* asked(
          "PUT",
          someone,
          { email: "said@example.com", phone: "+49 1512 3456781", name: "Ann" },
          asServer(brand.secretKey, someone.consumerId)
        )
        const said = { type: "guest", email: "said@example.com", phone: "+4915123456781", name: "Ann" }
        assert.deepInclude(byServer.body, said)
        assert.match((yield* recordOf(someone)).updatedBy, /^api_key:/)
        assert.strictEqual((yield* verify({ email, code })).status, 200)
      })
    )
  })
})

/** The profile requests of a consumer, or of a server for it. */
const asked = Effect.fnUntraced(function* (
  method: string,
  { accessToken }: { readonly accessToken: string },
  body?: object,
  headers?: { readonly [name: string]: string }
) {
  const { consumer, brand } = yield* Usher
  return yield* consumer({
    method,
    path: "/api/consumers/me",
    headers: headers ?? asConsumer(brand.publishableKey, accessToken),
    body
  })
})

const post = Effect.fnUntraced(function* (path: string, body: object) {
  const { consumer, brand } = yield* Usher
  const headers = { "x-publishable-key": brand.publishableKey }
  return yield* consumer({ method: "POST", path: `/api/auth/otp/${path}`, headers, body })
})

/** Requests a code, and reads the latest message that was sent to an address. */
const codeFor = Effect.fnUntraced(function* (address: object) {
  const { admin, brand } = yield* Usher
  const outbox = admin({ path: "/api/outbox", headers: asServer(brand.secretKey) })
  const before: number = (yield* outbox).body.data.length
  assert.strictEqual((yield* post("request", address)).status, 200)
  const { body } = yield* Effect.repeat(outbox, {
    until: (answer) => answer.body.data.length > before,
    schedule: Schedule.spaced("5 millis")
  }).pipe(Effect.timeout("20 minutes"))
  return /\b\d{6}\b/.exec(body.data[0].text)![0]
})

const verify = (body: object) => post("verify", body)

/** Creates a consumer that has verified its email. */
const signedIn = Effect.fnUntraced(function* (email: string) {
  const { body } = yield* verify({ email, code: yield* codeFor({ email }) })
  return { accessToken: body.accessToken as string, consumerId: body.session.consumerId as string }
})

/** Returns the consumer as the Admin API shows it. */
const recordOf = Effect.fnUntraced(function* ({ consumerId }: { readonly consumerId: string }) {
  const { admin, brand } = yield* Usher
  return (yield* admin({ path: `/api/consumers/${consumerId}`, headers: asServer(brand.secretKey) })).body
})

const otherThan = (code: string, by = 1) => `${(Number(code) + by) % 1_000_000}`.padStart(6, "0")

/** Returns the field and the check of each issue in a 400. */
const issuesOf = ({ status, body }: Answer) => {
  assert.deepStrictEqual([status, body.error], [400, "validation_error"])
  return body.issues.map((issue: any) => `${issue.path[0].key}: ${issue.type}`)
}
