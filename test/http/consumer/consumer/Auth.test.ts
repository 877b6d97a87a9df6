import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose"
import { asConsumer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"

describe("A guest session", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("needs the publishable key alone, and contains everything that a client needs", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
        const { status, body } = yield* consumer({
          method: "POST",
          path: "/api/auth/guest",
          headers: { "x-publishable-key": brand.publishableKey }
        })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(Object.keys(body).toSorted(), [
          "accessToken",
          "refreshToken",
          "refreshTokenTtlSeconds",
          "session"
        ])
        const { type, consumerId, guestId, expiresAt } = body.session
        assert.deepStrictEqual([type, guestId, body.refreshTokenTtlSeconds], ["guest", consumerId, 2_592_000])
        assert.match(consumerId, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        assert.match(expiresAt, /\.\d{3}Z$/)
        const jwks = (yield* consumer({ path: "/.well-known/jwks.json" })).body
        const { payload } = yield* Effect.promise(() => jwtVerify(body.accessToken, createLocalJWKSet(jwks)))
        const { consumerId: named, organizationId, sessionId, iat, exp } = payload
        assert.deepStrictEqual([named, organizationId], [consumerId, brand.organizationId])
        assert.deepStrictEqual([typeof sessionId, exp! - iat!], ["string", 3600])
        assert.strictEqual(decodeJwt(body.refreshToken).exp! * 1000, Date.parse(expiresAt))
      })
    )

    it.effect("is new for each request", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const guests = yield* Effect.all(
          Array.from({ length: 50 }, () => guest()),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(guests.map(({ consumerId }) => consumerId)).size, 50)
      })
    )

    it.effect("is the same for a repeated request that names its attempt, and names are not too short", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
        const ask = (attempt: string) => {
          const headers = { "x-publishable-key": brand.publishableKey, "idempotency-key": attempt }
          return consumer({ method: "POST", path: "/api/auth/guest", headers })
        }
        const [first, again, other] = yield* Effect.forEach(["a".repeat(16), "a".repeat(16), "b".repeat(16)], ask)
        assert.strictEqual(again!.body.session.consumerId, first!.body.session.consumerId)
        assert.notStrictEqual(other!.body.session.consumerId, first!.body.session.consumerId)
        assert.strictEqual((yield* ask("short")).status, 400)
      })
    )

    it.effect("starts for every request body", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
        for (const body of ["", "not json", { type: "authenticated" }]) {
          const headers = { "x-publishable-key": brand.publishableKey, "content-type": "application/json" }
          const answer = yield* consumer({ method: "POST", path: "/api/auth/guest", headers, body })
          assert.deepStrictEqual([answer.status, answer.body.session.type], [200, "guest"])
        }
      })
    )

    it.effect("belongs to the key's mode", () =>
      Effect.gen(function* () {
        const { consumer, guest, queue, brand } = yield* Usher
        const testQueue = yield* queue({}, brand.testSecretKey)
        const { accessToken } = yield* guest(brand.testPublishableKey)
        const status = (key: string) =>
          Effect.map(
            consumer({ path: `/api/queues/${testQueue}/status`, headers: asConsumer(key, accessToken) }),
            (answer) => answer.status
          )
        assert.strictEqual(yield* status(brand.testPublishableKey), 200)
        assert.strictEqual(yield* status(brand.publishableKey), 401)
      })
    )
  })
})
