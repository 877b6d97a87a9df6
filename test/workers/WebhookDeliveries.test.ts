/** Delivers events of a real journal to a real receiver on loopback, whose answers the test sets. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Webhook as Verifier } from "standardwebhooks"
import { WebhookDeliveries } from "../../src/store/webhook/WebhookDeliveries.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Webhooks } from "../../src/store/webhook/Webhooks.ts"
import { aQueue, aTenant } from "../store/support/recordsFixture.ts"
import type { Received } from "./support/webhookReceiver.ts"
import { aProcess, aWebhook, aWorld, clock, entered, services } from "./support/webhookWorld.ts"

const minutes = (count: number) => count * 60_000
const hours = (count: number) => minutes(60 * count)

/** True if the library of Standard Webhooks signs the request with this secret in the same way. */
const isSignedBy = (secret: string, { headers, body }: Received) => {
  const at = new Date(Number(headers["webhook-timestamp"]) * 1_000)
  return headers["webhook-signature"]!.split(" ").includes(new Verifier(secret).sign(headers["webhook-id"]!, at, body))
}

const typesOf = (received: ReadonlyArray<Received>, consumerId: string) =>
  received.filter((seen) => seen.consumerId === consumerId).map(({ type }) => type)

const inOrder = ["distribution.joined", "distribution.admitted"]

describe("A webhook", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("receives each event once, in the order of each consumer, signed with its secret", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        const { secret } = yield* aWebhook(tenant, receiver.url)
        const consumerIds = yield* entered(queue.id, 40)
        yield* worker.all
        assert.lengthOf(receiver.received, 80)
        for (const consumerId of consumerIds) assert.deepStrictEqual(typesOf(receiver.received, consumerId), inOrder)
        for (const seen of receiver.received) assert.isTrue(isSignedBy(secret, seen))
        assert.isFalse(yield* worker.round)
        assert.lengthOf(receiver.received, 80)
      })
    )

    it.effect("receives nothing that happened before it was created, and nothing of another tenant", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        yield* entered(queue.id, 3)
        yield* aWebhook(tenant, receiver.url)
        const other = yield* aQueue(yield* aTenant())
        yield* entered(other.id, 3)
        yield* worker.all
        assert.lengthOf(receiver.received, 0)
        yield* entered(queue.id, 1, 7)
        yield* worker.all
        assert.lengthOf(receiver.received, 2)
      })
    )

    it.effect("waits with the events of a consumer whose event failed, and with no others", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        yield* aWebhook(tenant, receiver.url)
        const [unlucky, ...lucky] = yield* entered(queue.id, 5)
        receiver.answer = ({ consumerId }) => (consumerId === unlucky ? 500 : 204)
        yield* worker.all
        assert.deepStrictEqual(typesOf(receiver.received, unlucky!), ["distribution.joined"])
        for (const consumerId of lucky) assert.deepStrictEqual(typesOf(receiver.received, consumerId), inOrder)
        receiver.answer = () => 204
        yield* worker.all
        assert.deepStrictEqual(typesOf(receiver.received, unlucky!), ["distribution.joined"])
        yield* clock.putForward(minutes(1.2))
        yield* worker.all
        assert.deepStrictEqual(typesOf(receiver.received, unlucky!), ["distribution.joined", ...inOrder])
        const ids = receiver.received.filter(({ consumerId }) => consumerId === unlucky).map(({ id }) => id)
        assert.strictEqual(ids[0], ids[1])
      })
    )

    it.effect("continues with others while all new events of a consumer wait behind a failed one", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        yield* aWebhook(tenant, receiver.url)
        const [unlucky] = yield* entered(queue.id, 1)
        receiver.answer = ({ consumerId }) => (consumerId === unlucky ? 500 : 204)
        yield* worker.all
        const again = { _tag: "Granted", at: Date.now(), consumerId: unlucky! } as const
        const commit = { mechanismId: queue.id, kind: "queue", places: [], wakeAt: null } as const
        yield* (yield* Journal).append({ ...commit, expectedSequence: 3, events: [again] })
        yield* worker.all
        const [lucky] = yield* entered(queue.id, 1, 4)
        yield* worker.all
        assert.deepStrictEqual(typesOf(receiver.received, lucky!), inOrder)
        assert.deepStrictEqual(typesOf(receiver.received, unlucky!), ["distribution.joined"])
      })
    )

    it.effect("gives a delivery up after six attempts, logs it, and continues with the lane", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        const { webhook } = yield* aWebhook(tenant, receiver.url)
        const [consumerId] = yield* entered(queue.id, 1)
        receiver.answer = ({ type }) => (type === "distribution.joined" ? 500 : 204)
        yield* worker.all
        for (const pause of [minutes(1.2), minutes(6), minutes(34), hours(2.3), hours(13.5)]) {
          yield* clock.putForward(pause)
          yield* worker.all
        }
        assert.deepStrictEqual(typesOf(receiver.received, consumerId!), [
          ...Array.from({ length: 6 }, () => "distribution.joined"),
          "distribution.admitted"
        ])
        const deliveries = yield* WebhookDeliveries
        const { data } = yield* deliveries.list(tenant, webhook.id, {}, { status: "FAILED" })
        assert.deepStrictEqual(
          data.map(({ type, attempts }) => [type, attempts.length, attempts[0]!.statusCode, attempts[0]!.body]),
          [["distribution.joined", 6, 500, "seen"]]
        )
        receiver.answer = () => 204
        assert.strictEqual(yield* (yield* Webhooks).replayFailed(tenant, webhook.id), 1)
        yield* worker.all
        assert.strictEqual(receiver.received.at(-1)!.type, "distribution.joined")
        assert.lengthOf((yield* deliveries.list(tenant, webhook.id, {}, { status: "FAILED" })).data, 0)
      })
    )

    it.effect("waits as long as the endpoint asks, and gets fewer requests at once", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        yield* aWebhook(tenant, receiver.url)
        yield* entered(queue.id, 30)
        receiver.answer = () => 429
        receiver.retryAfter = "300"
        receiver.inFlightLeast = 6
        yield* worker.all
        assert.isAbove(receiver.inFlightMost, 5)
        receiver.inFlightLeast = 1
        const before = receiver.received.length
        receiver.answer = () => 204
        receiver.inFlightMost = 0
        yield* clock.putForward(minutes(2))
        yield* worker.all
        assert.lengthOf(receiver.received, before)
        yield* clock.putForward(minutes(3.1))
        yield* worker.all
        assert.lengthOf(receiver.received, before + 60)
        assert.isAtMost(receiver.inFlightMost, 5)
      })
    )

    it.effect("gets as many requests at once, and in a second, as it asks for", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        yield* aWebhook(tenant, receiver.url, { requestsAtOnce: 2, requestsPerSecond: 50 })
        yield* entered(queue.id, 6)
        const from = performance.now()
        yield* worker.all
        assert.lengthOf(receiver.received, 12)
        assert.isAtMost(receiver.inFlightMost, 2)
        // Eleven of them wait 20 ms each.
        assert.isAbove(performance.now() - from, 200)
      })
    )

    it.effect("is disabled by a 410, loses nothing in a day, and receives it all when it is enabled", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        const webhooks = yield* Webhooks
        const { webhook } = yield* aWebhook(tenant, receiver.url)
        yield* entered(queue.id, 1)
        receiver.answer = () => 410
        yield* worker.all
        assert.deepInclude(yield* webhooks.find(tenant, webhook.id), { status: "DISABLED", disabledReason: "GONE" })
        const before = receiver.received.length
        for (let hour = 0; hour < 24; hour++) {
          yield* entered(queue.id, 1, 3 + 2 * hour)
          yield* clock.putForward(hours(1))
          yield* worker.all
        }
        assert.lengthOf(receiver.received, before)
        receiver.answer = () => 204
        yield* webhooks.enable(tenant, webhook.id, "test", "cursor")
        yield* worker.all
        assert.lengthOf(receiver.received, before + 50)
        assert.lengthOf(new Set(receiver.received.map(({ id }) => id)), 50)
      })
    )

    it.effect("is disabled after five days without a success", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        const webhooks = yield* Webhooks
        const { webhook } = yield* aWebhook(tenant, receiver.url, { schedule: "extended" })
        yield* entered(queue.id, 1)
        receiver.answer = () => 500
        for (let day = 0; day < 6; day++) {
          yield* worker.all
          yield* clock.putForward(hours(24))
          yield* entered(queue.id, 1, 3 + 2 * day)
        }
        assert.deepInclude(yield* webhooks.find(tenant, webhook.id), { disabledReason: "FAILING" })
      })
    )

    it.effect("receives events again from a time on, with their ids", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        const webhooks = yield* Webhooks
        const { webhook } = yield* aWebhook(tenant, receiver.url)
        yield* entered(queue.id, 4)
        yield* worker.all
        yield* webhooks.replay(tenant, webhook.id, 0)
        yield* worker.all
        const ids = receiver.received.map(({ id }) => id)
        assert.sameMembers(ids.slice(8, 16), ids.slice(0, 8))
      })
    )

    it.effect("signs with both secrets during a rotation, and with the new one after it", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        const webhooks = yield* Webhooks
        const { webhook, secret: former } = yield* aWebhook(tenant, receiver.url)
        const { secret: present } = yield* webhooks.rotateSecret(tenant, webhook.id, "test", 3_600)
        yield* entered(queue.id, 1)
        yield* worker.all
        const during = receiver.received[0]!
        assert.deepStrictEqual(
          [present, former].map((secret) => isSignedBy(secret, during)),
          [true, true]
        )
        yield* clock.putForward(hours(1.1))
        yield* entered(queue.id, 1, 3)
        yield* worker.all
        const after = receiver.received.at(-1)!
        assert.deepStrictEqual(
          [present, former].map((secret) => isSignedBy(secret, after)),
          [true, false]
        )
      })
    )

    it.effect("is served by one of two processes", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        const other = yield* aProcess
        yield* aWebhook(tenant, receiver.url)
        yield* entered(queue.id, 20)
        yield* Effect.all([worker.all, other.all], { concurrency: 2 })
        assert.lengthOf(receiver.received, 40)
      })
    )

    it.effect("receives the events of a round again if the process ends before it records them", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue, worker } = yield* aWorld
        yield* aWebhook(tenant, receiver.url)
        yield* entered(queue.id, 5)
        const sql = yield* SqlClient.SqlClient
        yield* sql`alter table webhook_cursors add constraint refused check (sequence < 0) not valid`
        yield* Effect.timeoutOption(worker.all, 1_500)
        yield* sql`alter table webhook_cursors drop constraint refused`
        const before = receiver.received.map(({ id }) => id)
        assert.lengthOf(before, 10)
        yield* worker.all
        assert.sameMembers(
          receiver.received.slice(10).map(({ id }) => id),
          before
        )
      })
    )
  })
})
