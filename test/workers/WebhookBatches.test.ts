/** Webhooks that receive their events in batches: order, retries, and signatures. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Webhook as Verifier } from "standardwebhooks"
import { WebhookDeliveries } from "../../src/store/webhook/WebhookDeliveries.ts"
import { Webhooks } from "../../src/store/webhook/Webhooks.ts"
import type { Received } from "./support/webhookReceiver.ts"
import { aWebhook, aWorld, clock, entered, services } from "./support/webhookWorld.ts"

const minute = 60_000

interface Inner {
  readonly id: string
  readonly type: string
  readonly data: { readonly consumer_id: string }
}

const eventsOf = ({ body }: Received): ReadonlyArray<Inner> => JSON.parse(body).data.events

describe("A webhook with batches", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("receives each event once, in the order of each consumer, and the library verifies each batch", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        const { webhook } = yield* aWebhook(tenant, receiver.url, { delivery: "batches" })
        assert.strictEqual(webhook.delivery, "batches")
        const { secret } = yield* (yield* Webhooks).rotateSecret(tenant, webhook.id, "test", 0)
        const consumerIds = yield* entered(queue.id, 300)
        yield* worker.all
        const { received } = receiver
        const events = received.flatMap(eventsOf)
        assert.lengthOf(events, 600)
        assert.isBelow(received.length, 100)
        for (const consumerId of consumerIds) {
          assert.deepStrictEqual(
            events.filter(({ data }) => data.consumer_id === consumerId).map(({ type }) => type),
            ["distribution.joined", "distribution.admitted"]
          )
        }
        const sent = received.map(({ headers, body }) => {
          const at = new Date(Number(headers["webhook-timestamp"]) * 1_000)
          return (
            headers["webhook-signature"]!.split(" ")[0] === new Verifier(secret).sign(headers["webhook-id"]!, at, body)
          )
        })
        assert.notInclude(sent, false)
        for (const { type, id, headers } of received) {
          assert.deepStrictEqual([type, id], ["events.batch", headers["webhook-id"]])
        }
      })
    )

    it.effect("receives a failed batch again unchanged, before later events, and no event of it alone", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        const { webhook } = yield* aWebhook(tenant, receiver.url, { delivery: "batches", ordering: "distribution" })
        yield* entered(queue.id, 20)
        receiver.answer = () => 500
        yield* worker.all
        yield* entered(queue.id, 10, 41)
        yield* worker.all
        assert.lengthOf(receiver.received, 1)
        receiver.answer = () => 204
        yield* clock.putForward(1.2 * minute)
        yield* worker.all
        const [failed, again, ...next] = receiver.received
        assert.deepStrictEqual([again!.id, again!.body], [failed!.id, failed!.body])
        const numbers = [again!, ...next].flatMap(eventsOf).map(({ id }) => Number(id.split("_")[2]))
        assert.lengthOf(numbers, 60)
        assert.deepStrictEqual(
          numbers,
          numbers.toSorted((one, other) => one - other)
        )
        const { data } = yield* (yield* WebhookDeliveries).list(tenant, webhook.id, {}, {})
        assert.deepStrictEqual(
          data
            .filter(({ eventId }) => eventId === failed!.id)
            .map(({ type, status, attempts }) => [type, status, attempts.length]),
          [["events.batch", "DELIVERED", 2]]
        )
      })
    )

    it.effect("receives a permanently failed batch again by a replay", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        const { webhook } = yield* aWebhook(tenant, receiver.url, { delivery: "batches", ordering: "distribution" })
        yield* entered(queue.id, 3)
        receiver.answer = () => 500
        yield* worker.all
        for (const pause of [1.2, 6, 34, 140, 810]) {
          yield* clock.putForward(pause * minute)
          yield* worker.all
        }
        assert.lengthOf(receiver.received, 6)
        receiver.answer = () => 204
        assert.strictEqual(yield* (yield* Webhooks).replayFailed(tenant, webhook.id), 1)
        yield* worker.all
        assert.strictEqual(new Set(receiver.received.map(({ id }) => id)).size, 1)
        assert.lengthOf(receiver.received, 7)
      })
    )
  })
})
