/** What an organization learns of a webhook that fails: an event for its other webhooks, and a mail. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { EventType } from "../../src/domain/webhook/Catalogue.ts"
import type { Tenant } from "../../src/domain/values/Ids.ts"
import { ConsumerRecords } from "../../src/store/consumer/ConsumerRecords.ts"
import { aTenant } from "../store/support/recordsFixture.ts"
import { aReceiver, type Received } from "./support/webhookReceiver.ts"
import { aWebhook, aWorld, clock, services } from "./support/webhookWorld.ts"

const minutes = (count: number) => count * 60_000
const hours = (count: number) => minutes(60 * count)

const created: ReadonlyArray<EventType> = ["consumer.created"]
const failures: ReadonlyArray<EventType> = ["webhook.failed", "webhook.disabled"]

const aWorldWithMail = Effect.gen(function* () {
  const world = yield* aWorld
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    update organizations set settings = settings || '{"operationsEmail": "ops@shop.example"}'
    where id = ${world.tenant.organizationId}`
  const consumers = yield* ConsumerRecords
  /** Creates a consumer, and lets every attempt to deliver it pass. */
  const fail = Effect.gen(function* () {
    yield* consumers.create(world.tenant, "x", { loyaltyBalance: 0n })
    yield* world.worker.all
    for (const pause of [minutes(1.2), minutes(6), minutes(34), hours(2.3), hours(13.5)]) {
      yield* clock.putForward(pause)
      yield* world.worker.all
    }
  })
  return { ...world, consumers, fail }
})

const mailsOf = (
  worker: { mails(tenant: Tenant): ReadonlyArray<{ subject: string; text: string; to: string }> },
  tenant: Tenant,
  count: number
) =>
  Effect.repeat(
    Effect.sync(() => worker.mails(tenant)),
    { until: (mails) => mails.length >= count, schedule: Schedule.spaced("10 millis") }
  )

const dataOf = ({ body }: Received) => JSON.parse(body).data

describe("A webhook that fails", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect(
      "is reported to the other webhooks of its tenant, and by mail, when a delivery has failed permanently",
      () =>
        Effect.gen(function* () {
          const { tenant, receiver, worker, fail } = yield* aWorldWithMail
          const other = yield* aReceiver
          const { webhook } = yield* aWebhook(tenant, receiver.url, { events: [...created, ...failures] })
          yield* aWebhook(tenant, other.url, { events: failures })
          receiver.answer = () => 500
          yield* fail
          yield* worker.all
          assert.lengthOf(receiver.received, 6)
          assert.deepStrictEqual(other.received.map(dataOf), [
            {
              webhook_id: webhook.id,
              failed_deliveries: 1,
              event_id: receiver.received[0]!.id,
              event_type: "consumer.created"
            }
          ])
          const [mail] = yield* mailsOf(worker, tenant, 1)
          assert.strictEqual(mail!.to, "ops@shop.example")
          assert.strictEqual(mail!.subject, `Webhook at ${new URL(receiver.url).host}: deliveries failed`)
          assert.include(mail!.text, webhook.id)
        })
    )

    it.effect("is reported to the admins of the dashboard if the organization has no address for operations", () =>
      Effect.gen(function* () {
        const { tenant, receiver, worker } = yield* aWorld
        const sql = yield* SqlClient.SqlClient
        const person = (email: string, role: string, more: object = {}) => sql`
          insert into people ${sql.insert({
            id: randomUUID(),
            organization_id: tenant.organizationId,
            mode: tenant.mode,
            record: "{}",
            created_at: new Date(1),
            created_by: "x",
            updated_at: new Date(1),
            updated_by: "x",
            email,
            role,
            ...more
          })}`
        yield* person("first@shop.example", "admin")
        yield* person("second@shop.example", "admin")
        yield* person("operator@shop.example", "operator")
        yield* person("viewer@shop.example", "viewer")
        yield* person("former@shop.example", "admin", { archived: true })
        yield* person("tester@shop.example", "admin", { mode: "test" })
        const stranger = yield* aTenant()
        yield* person("stranger@shop.example", "admin", { organization_id: stranger.organizationId })
        yield* aWebhook(tenant, receiver.url, { events: created })
        receiver.answer = () => 410
        yield* (yield* ConsumerRecords).create(tenant, "x", { loyaltyBalance: 0n })
        yield* worker.all
        const mails = yield* mailsOf(worker, tenant, 2)
        assert.sameMembers(
          mails.map(({ to }) => to),
          ["first@shop.example", "second@shop.example"]
        )
      })
    )

    it.effect("is reported when it was disabled, with the reason", () =>
      Effect.gen(function* () {
        const { tenant, receiver, worker, consumers } = yield* aWorldWithMail
        const other = yield* aReceiver
        const { webhook } = yield* aWebhook(tenant, receiver.url, { events: created })
        yield* aWebhook(tenant, other.url, { events: failures })
        receiver.answer = () => 410
        yield* consumers.create(tenant, "x", { loyaltyBalance: 0n })
        yield* worker.all
        yield* worker.all
        assert.deepStrictEqual(other.received.map(dataOf), [{ webhook_id: webhook.id, reason: "GONE" }])
        const [mail] = yield* mailsOf(worker, tenant, 1)
        assert.include(mail!.text, "answered 410")
      })
    )

    it.effect("leads to one mail an hour", () =>
      Effect.gen(function* () {
        const { tenant, receiver, worker, consumers, fail } = yield* aWorldWithMail
        yield* aWebhook(tenant, receiver.url, { events: created, ordering: "none" })
        receiver.answer = () => 500
        // A second consumer's delivery fails a few minutes after the first one's, and a third one's a day later.
        const late = Effect.andThen(clock.putForward(minutes(5)), consumers.create(tenant, "x", { loyaltyBalance: 0n }))
        yield* consumers.create(tenant, "x", { loyaltyBalance: 0n })
        yield* worker.all
        yield* late
        yield* fail
        yield* clock.putForward(minutes(30))
        yield* worker.all
        yield* mailsOf(worker, tenant, 1)
        const sql = yield* SqlClient.SqlClient
        const failed = sql<{ count: number }>`
          select count(*)::int as count from webhook_deliveries d join webhooks w on w.id = d.webhook_id
          where d.status = 'FAILED' and w.url = ${receiver.url}`
        assert.isAtLeast((yield* failed)[0]!.count, 2)
        assert.lengthOf(worker.mails(tenant), 1)
        yield* fail
        assert.lengthOf(yield* mailsOf(worker, tenant, 2), 2)
      })
    )

    it.effect("is not reported again for reports that could not be delivered", () =>
      Effect.gen(function* () {
        const { tenant, receiver, worker, fail } = yield* aWorldWithMail
        const other = yield* aReceiver
        yield* aWebhook(tenant, receiver.url, { events: [...created, ...failures] })
        yield* aWebhook(tenant, other.url, { events: failures })
        receiver.answer = () => 500
        other.answer = () => 500
        yield* fail
        for (const pause of [minutes(1.2), minutes(6), minutes(34), hours(2.3), hours(13.5)]) {
          yield* clock.putForward(pause)
          yield* worker.all
        }
        const sql = yield* SqlClient.SqlClient
        const failed = yield* sql<{ type: string }>`
          select d.type from webhook_deliveries d join webhooks w on w.id = d.webhook_id
          where d.status = 'FAILED' and w.url in (${receiver.url}, ${other.url}) order by d.type`
        assert.deepStrictEqual(
          failed.map(({ type }) => type),
          ["consumer.created", "webhook.failed"]
        )
        assert.isTrue(receiver.received.every(({ type }) => type === "consumer.created"))
      })
    )
  })
})
