/** The bounds on codes from a client's view: codes bound to requests, access codes, and SMS by country and day. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { IpNetwork } from "effect/net"
import { asConsumer, asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"

const services = Fixture.layerWith({ trustedProxies: [IpNetwork.fromStringUnsafe("127.0.0.0/8")] })

const from = (address: string) => ({ "x-forwarded-for": address, "x-forwarded-proto": "https" })

const post = Effect.fnUntraced(function* (path: string, body: object, address = "192.0.2.1") {
  const { consumer, brand } = yield* Usher
  return yield* consumer({
    method: "POST",
    path: `/api/auth/${path}`,
    headers: { "x-publishable-key": brand.publishableKey, ...from(address) },
    body
  })
})

const set = Effect.fnUntraced(function* (body: object) {
  const { admin, brand } = yield* Usher
  const headers = asServer(brand.secretKey)
  assert.strictEqual((yield* admin({ method: "PUT", path: "/api/organizations/me", headers, body })).status, 200)
})

/** The code in the message that was sent first, or last, to the address. */
const codeSentTo = Effect.fnUntraced(function* (to: string, count: number) {
  const { admin, brand } = yield* Usher
  const { body } = yield* Effect.repeat(admin({ path: `/api/outbox?to=${to}`, headers: asServer(brand.secretKey) }), {
    until: (answer) => answer.body.data.length >= count,
    schedule: Schedule.spaced("10 millis")
  })
  return /\b\d{6}\b/.exec(body.data.at(-1).text)![0]
})

const created = Effect.fnUntraced(function* (path: string, body: object) {
  const { admin, brand } = yield* Usher
  const answer = yield* admin({ method: "POST", path: `/api${path}`, headers: asServer(brand.secretKey), body })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.id as string
})

/** The gate for bots would stop the crowds of these tests earlier. */
const withoutGate = set({ challenge: { mode: "off" } })

describe("The bounds on codes", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("leave the owner's code usable while another client requests codes and sends wrong ones", () =>
      Effect.gen(function* () {
        const email = "owner@example.com"
        const own = yield* post("otp/request", { email })
        const code = yield* codeSentTo(email, 1)
        const strangers = "198.51.100.7"
        for (let request = 0; request < 6; request++) yield* post("otp/request", { email }, strangers)
        const wrong = `${(Number(code) + 1) % 1_000_000}`.padStart(6, "0")
        for (let guess = 0; guess < 60; guess++) yield* post("otp/verify", { email, code: wrong }, strangers)
        const limited = yield* post("otp/verify", { email, code }, strangers)
        assert.deepStrictEqual([limited.status, limited.headers["x-ratelimit-limit"]], [429, "50"])
        const { requestId } = own.body
        assert.strictEqual((yield* post("otp/verify", { email, code })).status, 401)
        const { status, body } = yield* post("otp/verify", { email, code, requestId })
        assert.deepStrictEqual([status, body.session.email], [200, email])
        assert.strictEqual((yield* post("otp/verify", { email, code, requestId: "1" })).status, 400)
      })
    )

    it.effect("send no SMS to a country that is not on the list, and no more than the cap of the day", () =>
      Effect.gen(function* () {
        yield* withoutGate
        yield* set({ defaultCountry: "DE" })
        const foreign = yield* post("otp/request", { phone: "+43 664 1234567" })
        const [issue] = foreign.body.issues
        assert.deepStrictEqual([foreign.status, issue.path[0].key, issue.type], [400, "phone", "phone"])
        assert.include(issue.message, "a phone number of one of these countries: DE")
        assert.strictEqual((yield* post("otp/request", { phone: "0151 23456789" })).status, 200)
        yield* set({ smsCountries: ["AT"], smsCodesPerDay: 10 })
        assert.strictEqual((yield* post("otp/request", { phone: "0151 23456789" })).status, 400)
        const numbers = Array.from({ length: 12 }, (_, index) => ({ phone: `+43 664 12345${10 + index}` }))
        const one = yield* Effect.forEach(numbers, (number) => post("otp/request", number))
        // One client has a fifth of the cap. The code to the German number was its first.
        assert.deepStrictEqual([one.filter(({ status }) => status === 200).length, one.at(-1)!.status], [1, 429])
        const all = yield* Effect.forEach(numbers, (number, index) =>
          post("otp/request", number, `192.0.2.${9 + index}`)
        )
        assert.strictEqual(all.filter(({ status }) => status === 200).length, 8)
        assert.strictEqual((yield* post("otp/request", { email: "still@example.com" })).status, 200)
        yield* set({ smsCountries: null, smsCodesPerDay: null, defaultCountry: null })
      })
    )

    it.effect("let a consumer try 10 wrong access codes and a client address 50; right ones do not count", () =>
      Effect.gen(function* () {
        yield* withoutGate
        const { admin, consumer, brand } = yield* Usher
        const headers = asServer(brand.secretKey)
        const short = { name: "Drop", accessCode: "12345" }
        assert.strictEqual(
          (yield* admin({ method: "POST", path: "/api/experiences", headers, body: short })).status,
          400
        )
        const experienceId = yield* created("/experiences", { name: "Drop", accessCode: "opening" })
        const visitor = (address: string) =>
          Effect.map(
            consumer({
              method: "POST",
              path: "/api/auth/guest",
              headers: { "x-publishable-key": brand.publishableKey, ...from(address) }
            }),
            ({ body }) =>
              (accessCode: string) =>
                Effect.map(
                  consumer({
                    method: "POST",
                    path: `/api/experiences/${experienceId}/enter`,
                    headers: { ...asConsumer(brand.publishableKey, body.accessToken), ...from(address) },
                    body: { accessCode }
                  }),
                  ({ status }) => status
                )
          )
        const crowd = "203.0.113.5"
        for (let shopper = 0; shopper < 60; shopper++) {
          assert.strictEqual(yield* (yield* visitor(crowd))("opening"), 200)
        }
        const guesser = yield* visitor(crowd)
        const guesses = yield* Effect.replicateEffect(guesser("guessed"), 14, { concurrency: "unbounded" })
        assert.strictEqual(guesses.filter((status) => status === 403).length, 10)
        assert.strictEqual(yield* guesser("opening"), 429)
        for (let other = 0; other < 4; other++) yield* Effect.replicateEffect((yield* visitor(crowd))("guessed"), 10)
        assert.strictEqual(yield* (yield* visitor(crowd))("guessed"), 429)
        assert.strictEqual(yield* (yield* visitor("203.0.113.6"))("opening"), 200)
      })
    )
  })
})
