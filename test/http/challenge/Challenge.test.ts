/** The gate for bots over HTTP, with ALTCHA's own library as the client. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { asConsumer, asServer, Usher } from "../support/usherFixture.ts"
import { askForGuest, from, layer as gated, solve } from "./challengeFixture.ts"

/** As many guests as pass without a challenge. */
const free = 5

const crowd = Effect.fnUntraced(function* (usher: Usher["Service"], address: string) {
  for (let count = 0; count < free; count++) assert.strictEqual((yield* askForGuest(usher, address)).status, 200)
})

layer(gated, { excludeTestServices: true })("The gate for bots", (it) => {
  it.effect("lets a few guests of an address pass, and asks the next ones for a challenge that serves once", () =>
    Effect.gen(function* () {
      const usher = yield* Usher
      yield* crowd(usher, "198.51.100.1")
      const refused = yield* askForGuest(usher, "198.51.100.1")
      assert.strictEqual(refused.status, 403)
      assert.strictEqual(refused.body.code, "CHALLENGE_REQUIRED")
      assert.strictEqual(refused.body.challenge.provider, "proof_of_work")
      const solution = yield* solve(refused.body.challenge)
      assert.strictEqual((yield* askForGuest(usher, "198.51.100.1", { solution })).status, 200)
      const again = yield* askForGuest(usher, "198.51.100.1", { solution })
      assert.strictEqual(again.status, 403)
      assert.notStrictEqual(again.body.challenge.parameters.nonce, refused.body.challenge.parameters.nonce)
      assert.strictEqual((yield* askForGuest(usher, "198.51.100.2")).status, 200)
    })
  )

  it.effect("records solutions that do not pass, for the organization to see", () =>
    Effect.gen(function* () {
      const usher = yield* Usher
      yield* crowd(usher, "198.51.100.66")
      for (const solution of ["made up", "e30="]) {
        assert.strictEqual((yield* askForGuest(usher, "198.51.100.66", { solution })).status, 403)
      }
      const path = "/api/security-events?type=challenge_refused&clientAddress=198.51.100.66"
      const { body } = yield* Effect.repeat(usher.admin({ path, headers: asServer(usher.brand.secretKey) }), {
        until: (answer) => answer.body.data[0]?.count === 2,
        schedule: Schedule.spaced("50 millis")
      })
      assert.deepStrictEqual(body.data[0].details, { action: "guest", provider: "proof_of_work" })
    })
  )

  it.effect("counts an IPv6 client by its /64", () =>
    Effect.gen(function* () {
      const usher = yield* Usher
      for (let count = 0; count < free; count++) yield* askForGuest(usher, `2001:db8:1:1::${count + 1}`)
      assert.strictEqual((yield* askForGuest(usher, "2001:db8:1:1:ffff::1")).status, 403)
      assert.strictEqual((yield* askForGuest(usher, "2001:db8:1:2::1")).status, 200)
    })
  )

  it.effect("asks no test keys and no client on the machine itself", () =>
    Effect.gen(function* () {
      const usher = yield* Usher
      for (let count = 0; count < 3 * free; count++) {
        const test = yield* askForGuest(usher, "198.51.100.3", { key: usher.brand.testPublishableKey })
        assert.strictEqual(test.status, 200)
        assert.strictEqual((yield* askForGuest(usher, "127.0.0.1")).status, 200)
      }
    })
  )

  it.effect("asks for a challenge for one-time codes too", () =>
    Effect.gen(function* () {
      const usher = yield* Usher
      const request = (email: string, solution?: string) =>
        usher.consumer({
          method: "POST",
          path: "/api/auth/otp/request",
          headers: { "x-publishable-key": usher.brand.publishableKey, ...from("198.51.100.4", solution) },
          body: { email }
        })
      for (let count = 0; count < free; count++) {
        assert.strictEqual((yield* request(`p${count}@example.com`)).status, 200)
      }
      const refused = yield* request("p@example.com")
      assert.strictEqual(refused.body.code, "CHALLENGE_REQUIRED")
      const solution = yield* solve(refused.body.challenge)
      assert.strictEqual((yield* request("p@example.com", solution)).status, 200)
    })
  )

  it.effect("asks at entries: a solution for one experience does not serve in another", () =>
    Effect.gen(function* () {
      const usher = yield* Usher
      const { publishableKey, secretKey } = usher.brand
      const [queueId, otherId] = [yield* usher.queue(), yield* usher.queue()]
      const guests = yield* Effect.replicateEffect(usher.guest(), free + 2)
      const enter = (id: string, guest: number, solution?: string) =>
        usher.consumer({
          method: "POST",
          path: `/api/queues/${id}/enter`,
          headers: { ...asConsumer(publishableKey, guests[guest]!.accessToken), ...from("198.51.100.5", solution) }
        })
      for (let guest = 0; guest < free; guest++) {
        assert.strictEqual((yield* enter(queueId, guest)).status, 200)
        assert.strictEqual((yield* enter(otherId, guest)).status, 200)
      }
      const refused = yield* enter(queueId, free)
      assert.strictEqual(refused.body.code, "CHALLENGE_REQUIRED")
      const solution = yield* solve(refused.body.challenge)
      assert.strictEqual((yield* enter(otherId, free, solution)).status, 403)
      assert.strictEqual((yield* enter(queueId, free, solution)).body.status, "QUEUED")
      const asked = yield* enter(queueId, free + 1)
      assert.strictEqual(asked.status, 403)
      const byServer = yield* usher.consumer({
        method: "POST",
        path: `/api/queues/${queueId}/enter`,
        headers: { ...asServer(secretKey, guests[free + 1]!.consumerId), ...from("198.51.100.5") }
      })
      assert.strictEqual(byServer.body.status, "QUEUED")
    })
  )

  it.effect("refuses a malformed solution without an error", () =>
    Effect.gen(function* () {
      const usher = yield* Usher
      yield* crowd(usher, "198.51.100.6")
      const { body } = yield* askForGuest(usher, "198.51.100.6")
      const { parameters, signature } = body.challenge
      const solution = { counter: 1, derivedKey: `${parameters.keyPrefix}${"0".repeat(32)}` }
      const wrong: ReadonlyArray<unknown> = [
        null,
        1,
        "text",
        {},
        { challenge: null, solution: null },
        { challenge: { parameters: null, signature }, solution },
        { challenge: { parameters, signature }, solution },
        { challenge: { parameters, signature: "é".repeat(64) }, solution },
        { challenge: { parameters: { ...parameters, data: { ...parameters.data, work: 1 } }, signature }, solution },
        { challenge: { parameters, signature }, solution: { counter: 1, derivedKey: 5 } }
      ]
      for (const value of wrong) {
        const text = Buffer.from(JSON.stringify(value)).toString("base64")
        assert.strictEqual((yield* askForGuest(usher, "198.51.100.6", { solution: text })).status, 403)
      }
      assert.strictEqual((yield* askForGuest(usher, "198.51.100.6", { solution: "%%%" })).status, 403)
      assert.strictEqual((yield* askForGuest(usher, "198.51.100.6", { solution: "x".repeat(7_000) })).status, 403)
    })
  )

  it.effect("lets browsers send the solution from any origin", () =>
    Effect.gen(function* () {
      const usher = yield* Usher
      const answer = yield* usher.consumer({
        method: "OPTIONS",
        path: "/api/auth/guest",
        headers: { origin: "https://shop.example", "access-control-request-method": "POST" }
      })
      assert.include(answer.headers["access-control-allow-headers"], "X-Challenge-Solution")
    })
  )
})
