/** Mechanisms of sequences that limit the orders of a consumer, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../../support/usherFixture.ts"
import { asConsumer, Usher } from "../../support/usherFixture.ts"
import { admin, anExperience, aSequence, kinds, oneOfEach } from "./experienceFixture.ts"
import { inQueue } from "../queue/queueFixture.ts"

const kept = [409, { error: "The limit of orders is reached", code: "DISTRIBUTION_ORDER_LIMIT" }]

const shown = ({ status, body }: Fixture.Answer) => (status === 200 ? [status, body.status] : [status, body])

const aQueue = Effect.fnUntraced(function* (sequenceId: string) {
  const { id } = yield* admin("POST", "/queues", { sequenceId, name: "Line", admitRate: 0 })
  return { id: id as string, ...(yield* inQueue(id)) }
})

describe("A sequence with an order limit", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("refuses a consumer with that many orders in mechanisms of every kind, and no other consumer", () =>
      Effect.gen(function* () {
        const { guest, consumer, brand } = yield* Usher
        const [buyer, other] = [yield* guest(), yield* guest()]
        const sequenceId = yield* aSequence(yield* anExperience(), { orderLimitPerConsumer: 1 })
        const ids = yield* oneOfEach(sequenceId)
        yield* admin("POST", "/orders", { consumerId: buyer.consumerId, sequenceId })
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
          assert.deepStrictEqual(shown(yield* entry(buyer, group, operation, body)), kept, group)
          const entered = yield* entry(other, group, operation, body)
          assert.strictEqual(entered.status, 200, `${group}: ${entered.text}`)
        }
        assert.deepStrictEqual(shown(yield* entry(buyer, "auctions", "enter")), kept)
      })
    )

    it.effect("counts the orders that complete its grants, and admits the consumer again after a cancellation", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const buyer = yield* guest()
        const { consumerId } = buyer
        const sequenceId = yield* aSequence(yield* anExperience(), { orderLimitPerConsumer: 1 })
        const [first, second] = [yield* aQueue(sequenceId), yield* aQueue(sequenceId)]
        assert.deepStrictEqual(shown(yield* first.enter(buyer)), [200, "QUEUED"])
        yield* first.admit({ consumerId })
        const order = yield* admin("POST", "/orders", { consumerId, distributionId: first.id })
        assert.strictEqual(order.sequenceId, sequenceId)
        assert.deepStrictEqual(shown(yield* second.enter(buyer)), kept)
        assert.deepStrictEqual(shown(yield* first.enter(buyer)), kept)
        assert.deepStrictEqual(shown(yield* first.status(buyer)), [200, "COMPLETED"])
        yield* admin("PUT", `/orders/${order.id}`, { status: "CANCELLED" })
        assert.deepStrictEqual(shown(yield* second.enter(buyer)), [200, "QUEUED"])
      })
    )

    it.effect("applies each change of the limit as soon as it is answered, and counts only its own orders", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const buyer = yield* guest()
        const { consumerId } = buyer
        const experienceId = yield* anExperience()
        const sequenceId = yield* aSequence(experienceId)
        const elsewhere = yield* aSequence(experienceId, { orderLimitPerConsumer: 1 })
        const { enter } = yield* aQueue(sequenceId)
        for (let n = 0; n < 2; n++) yield* admin("POST", "/orders", { consumerId, sequenceId })
        const entered = Effect.map(enter(buyer), ({ status }) => status)
        assert.deepStrictEqual(shown(yield* (yield* aQueue(elsewhere)).enter(buyer)), [200, "QUEUED"])
        for (const [limit, status] of [
          [null, 200],
          [2, 409],
          [3, 200],
          [1, 409],
          [null, 200]
        ] as const) {
          yield* admin("PUT", `/sequences/${sequenceId}`, { orderLimitPerConsumer: limit })
          assert.strictEqual(yield* entered, status, `${limit}`)
        }
      })
    )
  })
})
