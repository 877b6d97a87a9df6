/** The server's changes of consumers, and their immediate effects, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../../support/usherFixture.ts"
import { asConsumer, asServer, type Guest, Usher } from "../../support/usherFixture.ts"
import { admin, anExperience, aSequence, inExperience } from "../experience/experienceFixture.ts"
import { inQueue } from "../queue/queueFixture.ts"

const rules = { match: "all", rules: [{ field: "attributes.tier", op: "eq", value: "gold" }] }

const aQueueFor = Effect.fnUntraced(function* (audienceId: string) {
  const experienceId = yield* anExperience()
  const sequenceId = yield* aSequence(experienceId, { audienceId, name: "VIP" })
  const { id } = yield* admin("POST", "/queues", { sequenceId, name: "Line", admitRate: 0 })
  return { queue: yield* inQueue(id), queueId: id as string, experience: yield* inExperience(experienceId) }
})

const kept = [403, { error: "Queue is not for this consumer" }]

const shown = ({ status, body }: Fixture.Answer) => (status === 200 ? [status, body.status] : [status, body])

const withTier = ({ consumerId }: Guest, tier: string) =>
  admin("PUT", `/consumers/${consumerId}`, { attributes: { tier } })

describe("A consumer with data from the server", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("enters the queue of a dynamic audience while it matches the rules, from the next request on", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { id } = yield* admin("POST", "/audiences", { name: "Gold", type: "DYNAMIC", rules })
        const { queue } = yield* aQueueFor(id)
        const someone = yield* guest()
        for (let round = 0; round < 3; round++) {
          assert.deepStrictEqual(shown(yield* queue.enter(someone)), kept)
          yield* withTier(someone, "gold")
          assert.deepStrictEqual(shown(yield* queue.enter(someone)), [200, "QUEUED"])
          assert.deepStrictEqual(shown(yield* queue.enter(someone)), [200, "QUEUED"])
          yield* withTier(someone, "silver")
          assert.deepStrictEqual(shown(yield* queue.enter(someone)), kept)
          assert.deepStrictEqual((yield* queue.status(someone)).body.status, "QUEUED")
          yield* queue.leave(someone)
        }
      })
    )

    it.effect("gains and loses access at once when a batch or the rules change", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { id } = yield* admin("POST", "/audiences", { name: "Gold", type: "DYNAMIC", rules })
        const { queue } = yield* aQueueFor(id)
        const someone = yield* guest()
        yield* admin("PUT", `/consumers/${someone.consumerId}`, { externalId: "crm-batch" })
        const batch = (tier: string) =>
          admin("POST", "/consumers/batch", { consumers: [{ externalId: "crm-batch", attributes: { tier } }] })
        yield* batch("gold")
        assert.deepStrictEqual(shown(yield* queue.enter(someone)), [200, "QUEUED"])
        yield* batch("silver")
        assert.deepStrictEqual(shown(yield* queue.enter(someone)), kept)
        const tier = (value: string) => ({ match: "all", rules: [{ field: "attributes.tier", op: "eq", value }] })
        yield* admin("PUT", `/audiences/${id}`, { rules: tier("silver") })
        assert.deepStrictEqual(shown(yield* queue.enter(someone)), [200, "QUEUED"])
        yield* admin("PUT", `/audiences/${id}`, { rules: tier("gold") })
        assert.deepStrictEqual(shown(yield* queue.enter(someone)), kept)
      })
    )

    it.effect("is shown the sequences of the dynamic audiences it belongs to", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { id } = yield* admin("POST", "/audiences", { name: "Gold", type: "DYNAMIC", rules })
        const { experience } = yield* aQueueFor(id)
        const [member, other] = [yield* guest(), yield* guest()]
        yield* withTier(member, "gold")
        const names = (answer: Fixture.Answer) => answer.body.experience.sequences.map((each: any) => each.name)
        assert.deepStrictEqual(names(yield* experience.enter(member)), ["VIP"])
        assert.deepStrictEqual(names(yield* experience.enter(other)), [])
      })
    )

    it.effect("is unknown once it is archived: its tokens are invalid, and it loses its places", () =>
      Effect.gen(function* () {
        const { guest, consumer, brand, queue: makeQueue } = yield* Usher
        const queueId = yield* makeQueue()
        const queue = yield* inQueue(queueId)
        const [gone, other] = [yield* guest(), yield* guest()]
        yield* queue.enter(gone)
        yield* queue.enter(other)
        const byServer = consumer({
          path: `/api/queues/${queueId}/status`,
          headers: asServer(brand.secretKey, gone.consumerId)
        })
        assert.deepStrictEqual(shown(yield* byServer), [200, "QUEUED"])
        yield* admin("DELETE", `/consumers/${gone.consumerId}`)
        const required = [401, { error: "Authentication required" }]
        assert.deepStrictEqual(shown(yield* queue.status(gone)), required)
        assert.deepStrictEqual(shown(yield* queue.enter(gone)), required)
        const me = yield* consumer({
          path: "/api/consumers/me",
          headers: asConsumer(brand.publishableKey, gone.accessToken)
        })
        assert.deepStrictEqual(shown(me), required)
        const refreshed = yield* consumer({
          method: "POST",
          path: "/api/auth/refresh",
          headers: { "x-publishable-key": brand.publishableKey },
          body: { refreshToken: gone.refreshToken }
        })
        assert.deepStrictEqual(shown(refreshed), [401, { error: "Invalid refresh token" }])
        assert.deepStrictEqual(shown(yield* byServer), [404, { error: "Consumer not found" }])
        assert.strictEqual((yield* queue.status(other)).body.position, 1)
        const { data } = yield* admin("GET", `/distributions/${queueId}/consumers`)
        assert.deepStrictEqual(
          data.map((place: any) => [place.consumerId, place.status]),
          [
            [gone.consumerId, "LEFT"],
            [other.consumerId, "QUEUED"]
          ]
        )
      })
    )

    it.effect("is available after it was restored: a guest with its session, any other after it signs in again", () =>
      Effect.gen(function* () {
        const { guest, consumer, brand, queue: makeQueue } = yield* Usher
        const queueId = yield* makeQueue()
        const queue = yield* inQueue(queueId)
        const someone = yield* guest()
        const restored = (id: string) =>
          Effect.andThen(admin("DELETE", `/consumers/${id}`), admin("POST", `/consumers/${id}/restore`))
        yield* restored(someone.consumerId)
        assert.deepStrictEqual(shown(yield* queue.enter(someone)), [200, "QUEUED"])

        const keys = { "x-publishable-key": brand.publishableKey }
        const signIn = Effect.fnUntraced(function* (to: string) {
          yield* consumer({ method: "POST", path: "/api/auth/otp/request", headers: keys, body: { email: to } })
          const [message] = (yield* admin("GET", `/outbox?to=${to}`)).data
          const code = /\b\d{6}\b/.exec(message.text)![0]
          const path = "/api/auth/otp/verify"
          return (yield* consumer({ method: "POST", path, headers: keys, body: { email: to, code } })).body
        })
        const before = yield* signIn("back@example.com")
        const { consumerId } = before.session
        yield* restored(consumerId)
        assert.strictEqual((yield* queue.status({ ...before, consumerId })).status, 401)
        const again = yield* signIn("back@example.com")
        assert.strictEqual(again.session.consumerId, consumerId)
        assert.deepStrictEqual(shown(yield* queue.enter({ ...again, consumerId })), [200, "QUEUED"])
      })
    )

    it.effect("counts in queues with loyalty ranking, with the balance that the server has set", () =>
      Effect.gen(function* () {
        const { guest, queue: makeQueue } = yield* Usher
        const queue = yield* inQueue(yield* makeQueue({ loyaltyBiasEnabled: true, loyaltyHeadStartSeconds: 3600 }))
        const [first, loyal] = [yield* guest(), yield* guest()]
        yield* admin("PUT", `/consumers/${loyal.consumerId}`, { loyaltyBalance: "1000" })
        yield* queue.enter(first)
        assert.strictEqual((yield* queue.enter(loyal)).body.position, 1)
        assert.strictEqual((yield* queue.status(first)).body.position, 2)
      })
    )
  })
})
