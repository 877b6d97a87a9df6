/** Events of records on their way to a real receiver. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import type { Settings as OrderSettings } from "../../src/domain/consumer/Order.ts"
import type { EventType } from "../../src/domain/webhook/Catalogue.ts"
import { ConsumerRecords } from "../../src/store/consumer/ConsumerRecords.ts"
import { Orders } from "../../src/store/consumer/Orders.ts"
import { Experiences } from "../../src/store/experience/Experiences.ts"
import { ReceivedEvents } from "../../src/store/receiver/ReceivedEvents.ts"
import { Receivers } from "../../src/store/receiver/Receivers.ts"
import { Webhooks } from "../../src/store/webhook/Webhooks.ts"
import { aConsumer, aTenant, inTestMode } from "../store/support/recordsFixture.ts"
import type { Received } from "./support/webhookReceiver.ts"
import { aWebhook, aWorld, services } from "./support/webhookWorld.ts"

const events: ReadonlyArray<EventType> = [
  "consumer.created",
  "consumer.updated",
  "consumer.deleted",
  "experience.created",
  "experience.cancelled",
  "order.created",
  "order.paid",
  "order.cancelled"
]

const ann = { loyaltyBalance: 0n, email: "ann@example.com", fullName: "Ann Lee" }
const drop = { name: "Drop", timeZone: "UTC", currencyCode: "USD" }
const items = [{ quantity: 2, unitPrice: "64.75" }]
const order = { status: "CREATED", currencyCode: "USD", items, placedAt: 1_000 } as unknown as OrderSettings
const noOrigin = { experienceId: null, sequenceId: null, distributionId: null, distributionType: null }

const typesAbout = (received: ReadonlyArray<Received>, id: string) =>
  received.filter(({ body }) => Object.values(JSON.parse(body).data)[0] === id).map(({ type }) => type)

describe("A webhook", () => {
  const all = Layer.mergeAll(Receivers.layer, ReceivedEvents.layer).pipe(Layer.provideMerge(services))
  layer(all, { excludeTestServices: true })((it) => {
    it.effect("receives the events of records, each record's in order, without personal data", () =>
      Effect.gen(function* () {
        const { tenant, receiver, worker } = yield* aWorld
        const consumers = yield* ConsumerRecords
        const experiences = yield* Experiences
        const orders = yield* Orders
        yield* consumers.create(tenant, "x", { loyaltyBalance: 0n })
        yield* aWebhook(tenant, receiver.url, { events })
        const consumer = yield* consumers.create(tenant, "x", ann)
        yield* consumers.change(tenant, consumer.id, "x", (same) => ({ ...same, fullName: "Ann Smith" }))
        yield* aConsumer(tenant)
        const experience = yield* experiences.create(tenant, "x", drop)
        yield* experiences.archive(tenant, experience.id, "x")
        const origin = { consumerId: consumer.id, ...noOrigin }
        const placed = yield* orders.create(tenant, "x", origin, order)
        yield* orders.change(tenant, placed.id, "x", (same) => Result.succeed({ ...same, status: "PAID" as const }))
        yield* consumers.archive(tenant, consumer.id, "x")
        for (const other of [inTestMode(tenant), yield* aTenant()]) yield* consumers.create(other, "x", ann)
        yield* worker.all
        const { received } = receiver
        const expected = {
          [consumer.id]: ["consumer.created", "consumer.updated", "consumer.deleted"],
          [experience.id]: ["experience.created", "experience.cancelled"],
          [placed.id]: ["order.created", "order.paid"]
        }
        assert.lengthOf(received, 7)
        for (const [id, types] of Object.entries(expected)) assert.deepStrictEqual(typesAbout(received, id), types)
        for (const { body } of received) {
          assert.notMatch(body, /ann|smith/i)
          assert.isBelow(body.length, 4_096)
        }
        const paid = JSON.parse(received.find(({ type }) => type === "order.paid")!.body)
        const journal = `${tenant.organizationId.replaceAll("-", "")}_live`
        assert.strictEqual(paid.id, `evt_${journal}_${paid.sequence}_0`)
        assert.deepStrictEqual(paid.data, {
          order_id: placed.id,
          consumer_id: consumer.id,
          status: "PAID",
          currency_code: "USD",
          total: "129.5"
        })
        const updated = JSON.parse(received.find(({ type }) => type === "consumer.updated")!.body)
        assert.deepStrictEqual(updated.data, { consumer_id: consumer.id, changed: ["fullName"] })
      })
    )

    it.effect("receives an event that needs attention, with its order", () =>
      Effect.gen(function* () {
        const { tenant, receiver, worker } = yield* aWorld
        const received = yield* ReceivedEvents
        const { id } = yield* (yield* Receivers).create(tenant, "x", { adapter: "stripe" }, "a secret of sixteen")
        yield* aWebhook(tenant, receiver.url, { events: ["order.needs_attention"] })
        const origin = { consumerId: yield* aConsumer(tenant), ...noOrigin }
        const payment = { paymentId: "pi_1", grantLapsed: true }
        const placed = yield* (yield* Orders).create(tenant, "x", origin, order, { payment })
        yield* received.record(id, [{ id: "evt_1", type: "charge.refunded", at: 0, body: "{}" }], 0)
        const [taken] = yield* received.claim(0)
        const settled = { status: "NEEDS_ATTENTION", outcome: "GRANT_LAPSED" } as const
        yield* received.settle(taken!, settled, { orderId: placed.id })
        yield* worker.all
        assert.deepStrictEqual(
          receiver.received.map(({ body }) => JSON.parse(body).data),
          [
            {
              order_id: placed.id,
              consumer_id: origin.consumerId,
              status: "CREATED",
              currency_code: "USD",
              total: "129.5",
              grant_lapsed: true,
              reason: "GRANT_LAPSED",
              receiver_id: id,
              received_event_id: "evt_1"
            }
          ]
        )
      })
    )

    it.effect("waits with the events of a record whose event failed, and with no others", () =>
      Effect.gen(function* () {
        const { tenant, receiver, worker } = yield* aWorld
        const consumers = yield* ConsumerRecords
        yield* aWebhook(tenant, receiver.url, { events })
        const unlucky = yield* consumers.create(tenant, "x", ann)
        const lucky = yield* consumers.create(tenant, "x", { loyaltyBalance: 0n })
        for (const { id } of [unlucky, lucky]) yield* consumers.archive(tenant, id, "x")
        receiver.answer = ({ consumerId }) => (consumerId === unlucky.id ? 500 : 204)
        yield* worker.all
        assert.deepStrictEqual(typesAbout(receiver.received, unlucky.id), ["consumer.created"])
        assert.deepStrictEqual(typesAbout(receiver.received, lucky.id), ["consumer.created", "consumer.deleted"])
      })
    )

    it.effect("receives the events of records again from a time on, with their ids", () =>
      Effect.gen(function* () {
        const { tenant, receiver, worker } = yield* aWorld
        const consumers = yield* ConsumerRecords
        const webhooks = yield* Webhooks
        const { webhook } = yield* aWebhook(tenant, receiver.url, { events: ["consumer.created"] })
        for (let n = 0; n < 3; n++) yield* consumers.create(tenant, "x", { loyaltyBalance: 0n })
        yield* worker.all
        yield* webhooks.replay(tenant, webhook.id, 0)
        yield* worker.all
        const ids = receiver.received.map(({ id }) => id)
        assert.lengthOf(ids, 6)
        assert.sameMembers(ids.slice(3), ids.slice(0, 3))
        yield* webhooks.disable(tenant, webhook.id, "x")
        yield* consumers.create(tenant, "x", { loyaltyBalance: 0n })
        yield* webhooks.enable(tenant, webhook.id, "x", "now")
        yield* worker.all
        assert.lengthOf(receiver.received, 6)
      })
    )
  })
})
