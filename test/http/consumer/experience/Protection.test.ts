/** Mechanisms of sequences that are restricted to some consumers, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../../support/usherFixture.ts"
import { asConsumer, asServer, Usher } from "../../support/usherFixture.ts"
import { admin, anAudience, anExperience, aSequence, inExperience, kinds, oneOfEach } from "./experienceFixture.ts"
import { inQueue } from "../queue/queueFixture.ts"

const aProtectedQueue = Effect.fnUntraced(function* (settings: object) {
  const experienceId = yield* anExperience()
  const sequenceId = yield* aSequence(experienceId, settings)
  const { id } = yield* admin("POST", "/queues", { sequenceId, name: "Line", admitRate: 0 })
  return { experienceId, sequenceId, queue: yield* inQueue(id), queueId: id as string }
})

const kept = [403, { error: "Queue is not for this consumer" }]

const shown = ({ status, body }: Fixture.Answer) => (status === 200 ? [status, body.status] : [status, body])

describe("A protected sequence", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("refuses consumers outside its audience in its queue, and admits its members", () =>
      Effect.gen(function* () {
        const { guest, consumer, brand } = yield* Usher
        const [member, other] = [yield* guest(), yield* guest()]
        const { queue, queueId } = yield* aProtectedQueue({ audienceId: yield* anAudience([member]) })
        assert.deepStrictEqual(shown(yield* queue.enter(other)), kept)
        assert.deepStrictEqual((yield* queue.status(other)).body, { status: "NOT_QUEUED" })
        assert.deepStrictEqual(shown(yield* queue.enter(member)), [200, "QUEUED"])
        const byServer = (consumerId: string) =>
          consumer({
            method: "POST",
            path: `/api/queues/${queueId}/enter`,
            headers: asServer(brand.secretKey, consumerId)
          })
        assert.deepStrictEqual(shown(yield* byServer(other.consumerId)), kept)
        assert.deepStrictEqual(shown(yield* byServer(member.consumerId)), [200, "QUEUED"])
      })
    )

    it.effect("refuses them in mechanisms of every kind, under each name of the entering operation", () =>
      Effect.gen(function* () {
        const { guest, consumer, brand } = yield* Usher
        const [member, other] = [yield* guest(), yield* guest()]
        const audienceId = yield* anAudience([member])
        const ids = yield* oneOfEach(yield* aSequence(yield* anExperience(), { audienceId }))
        const slots = yield* consumer({
          path: `/api/appointments/${ids["appointments"]}/slots`,
          headers: { "x-publishable-key": brand.publishableKey }
        })
        const slotId = slots.body.data.findLast(({ available }: { readonly available: number }) => available > 0).id
        const entry = (who: Fixture.Guest, group: string, operation: string, body?: object) =>
          consumer({
            method: "POST",
            path: `/api/${group}/${ids[group]}/${operation}`,
            headers: asConsumer(brand.publishableKey, who.accessToken),
            body: group === "appointments" ? { slotId } : body
          })
        for (const [group, { entry: operation, body }] of Object.entries(kinds)) {
          const refused = yield* entry(other, group, operation, body)
          assert.strictEqual(refused.status, 403, `${group}: ${refused.text}`)
          assert.match(refused.body.error, / is not for this consumer$/)
          const entered = yield* entry(member, group, operation, body)
          assert.strictEqual(entered.status, 200, `${group}: ${entered.text}`)
        }
        assert.strictEqual((yield* entry(other, "auctions", "enter")).status, 403)
        assert.strictEqual((yield* entry(member, "auctions", "enter")).status, 200)
        const { body } = yield* consumer({
          path: "/api/consumers/me",
          headers: asConsumer(brand.publishableKey, member.accessToken)
        })
        assert.sameMembers(
          body.places.map(
            ({ type, status }: { readonly type: string; readonly status: string }) => `${type} ${status}`
          ),
          [
            "queue QUEUED",
            "draw ENTERED",
            "auction WINNING",
            "appointment BOOKED",
            "timed_release ENTERED",
            "waitlist ENTERED"
          ]
        )
      })
    )

    it.effect("applies each change as soon as it is answered", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const someone = yield* guest()
        const { queue, sequenceId } = yield* aProtectedQueue({})
        const audienceId = yield* anAudience([])
        const members = (method: string) =>
          admin(method, `/audiences/${audienceId}/members`, { consumerIds: [someone.consumerId] })
        const entered = Effect.map(queue.enter(someone), ({ status }) => status)
        for (let round = 0; round < 3; round++) {
          assert.strictEqual(yield* entered, 200)
          yield* admin("PUT", `/sequences/${sequenceId}`, { audienceId })
          assert.strictEqual(yield* entered, 403)
          yield* members("POST")
          assert.strictEqual(yield* entered, 200)
          yield* members("DELETE")
          assert.strictEqual(yield* entered, 403)
          yield* admin("PUT", `/sequences/${sequenceId}`, { audienceId: null, accessCode: "opening" })
          assert.strictEqual(yield* entered, 403)
          yield* admin("PUT", `/sequences/${sequenceId}`, { accessCode: null })
        }
      })
    )

    it.effect("admits a consumer that has sent its access code to the experience", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const [knowing, other] = [yield* guest(), yield* guest()]
        const { queue, experienceId } = yield* aProtectedQueue({ accessCode: "opening" })
        const { enter } = yield* inExperience(experienceId)
        assert.deepStrictEqual(shown(yield* queue.enter(knowing)), kept)
        yield* enter(knowing, { accessCode: "opening" })
        yield* enter(other)
        assert.deepStrictEqual(shown(yield* queue.enter(knowing)), [200, "QUEUED"])
        assert.deepStrictEqual(shown(yield* queue.enter(other)), kept)
      })
    )

    it.effect("keeps the place that a consumer has, and lets the consumer leave", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const member = yield* guest()
        const audienceId = yield* anAudience([member])
        const { queue } = yield* aProtectedQueue({ audienceId })
        yield* queue.enter(member)
        yield* admin("DELETE", `/audiences/${audienceId}/members`, { consumerIds: [member.consumerId] })
        assert.deepStrictEqual(shown(yield* queue.status(member)), [200, "QUEUED"])
        assert.deepStrictEqual(shown(yield* queue.enter(member)), kept)
        assert.deepStrictEqual(shown(yield* queue.leave(member)), [200, "LEFT"])
      })
    )
  })
})
