/** A consumer and its places, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestDatabase from "../../store/TestDatabase.ts"
import * as Fixture from "../usherFixture.ts"
import { asConsumer, asServer, Usher } from "../usherFixture.ts"
import { inQueue } from "./queueFixture.ts"

const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe.skipIf(!TestDatabase.serverAnswers)(TestDatabase.title("A consumer on the Consumer API"), () => {
  layer(Fixture.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("sees itself and its active places, as its organization's server sees them", () =>
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

    it.effect("is seen by its own organization's server alone, in its own mode", () =>
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
  })
})
