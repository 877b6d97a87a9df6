import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { receivedEventDays } from "../../../src/domain/organization/Retention.ts"
import { removeExpired } from "../../../src/auth/sessions/Expiry.ts"
import { ReceivedEvents } from "../../../src/store/receiver/ReceivedEvents.ts"
import { Receivers } from "../../../src/store/receiver/Receivers.ts"
import { ofTenant } from "../../../src/store/records/Tenancy.ts"
import { aTenant, layer as records } from "../support/recordsFixture.ts"

const services = Layer.mergeAll(Receivers.layer, ReceivedEvents.layer).pipe(Layer.provideMerge(records))

const aReceiver = Effect.gen(function* () {
  const tenant = yield* aTenant()
  const { id } = yield* (yield* Receivers).create(tenant, "test", { adapter: "stripe" }, "a secret of sixteen")
  return { tenant, id }
})

const anEvent = (id: string) => ({ id, type: "charge.refunded", at: 1_000, body: `{"id":"${id}"}` })

describe("Received events", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("are written once, also by two requests at the same time", () =>
      Effect.gen(function* () {
        const events = yield* ReceivedEvents
        const [{ id }, other] = [yield* aReceiver, yield* aReceiver]
        const batch = [anEvent("a"), anEvent("b"), anEvent("a")]
        const written = yield* Effect.all(
          [events.record(id, batch, 1_000), events.record(id, batch.toReversed(), 1_000)],
          {
            concurrency: "unbounded"
          }
        )
        assert.strictEqual(written[0] + written[1], 2)
        assert.strictEqual(yield* events.record(id, [anEvent("b"), anEvent("c")], 2_000), 1)
        assert.strictEqual(yield* events.record(other.id, [anEvent("a")], 2_000), 1)
        assert.strictEqual(yield* events.record(id, [], 2_000), 0)
      })
    )

    it.effect("are claimed by one of two processes, and again only if that one does not settle them", () =>
      Effect.gen(function* () {
        const events = yield* ReceivedEvents
        yield* Effect.orDie(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`delete from received_events`))
        const { tenant, id } = yield* aReceiver
        yield* events.record(id, [anEvent("a"), anEvent("b")], 1_000)
        assert.deepStrictEqual(yield* events.claim(999), [])
        const [one, two] = yield* Effect.all([events.claim(1_000), events.claim(1_000)], { concurrency: "unbounded" })
        const claimed = [...one, ...two].toSorted((x, y) => x.eventId.localeCompare(y.eventId))
        assert.deepStrictEqual(
          claimed.map(({ eventId, attempts }) => [eventId, attempts]),
          [
            ["a", 1],
            ["b", 1]
          ]
        )
        assert.deepInclude(claimed[0], { receiverId: id, tenant, adapter: "stripe", body: '{"id":"a"}' })
        yield* events.settle(claimed[0]!, { status: "DONE", outcome: "ORDER_PAID" })
        assert.deepStrictEqual(yield* events.claim(20_999), [])
        const [again] = yield* events.claim(21_000)
        assert.deepInclude(again, { eventId: "b", attempts: 2 })
        // The process that lost the event may not write its result.
        yield* events.settle(claimed[1]!, { status: "FAILED", outcome: "UNAVAILABLE" })
        yield* events.settle(again!, { status: "WAITING", nextAt: 90_000, outcome: "ORDER_UNKNOWN" })
        const { data } = yield* events.list(tenant, id, { sortDir: "asc" }, {})
        assert.deepStrictEqual(
          data.map(({ eventId, status, outcome, nextAttemptAt }) => [eventId, status, outcome, nextAttemptAt]),
          [
            ["a", "DONE", "ORDER_PAID", null],
            ["b", "WAITING", "ORDER_UNKNOWN", 90_000]
          ]
        )
        const waiting = yield* events.list(tenant, id, {}, { status: "WAITING" })
        assert.deepStrictEqual(
          waiting.data.map(({ eventId }) => eventId),
          ["b"]
        )
      })
    )

    it.effect("are claimed for one receiver, in order, and are due as before once they are given back", () =>
      Effect.gen(function* () {
        const events = yield* ReceivedEvents
        yield* Effect.orDie(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`delete from received_events`))
        const [one, other] = [yield* aReceiver, yield* aReceiver]
        const ids = Array.from({ length: 12 }, (_, index) => `event ${100 - index}`)
        yield* events.record(one.id, ids.map(anEvent), 1_000)
        yield* events.record(other.id, [anEvent("later")], 2_000)
        const claimed = yield* events.claim(3_000)
        assert.deepStrictEqual(
          claimed.map(({ receiverId, eventId }) => [receiverId, eventId]),
          ids.map((id) => [one.id, id])
        )
        assert.deepStrictEqual(yield* events.claim(3_000, [other.id]), [])
        yield* events.settle(claimed[1]!, { status: "DONE", outcome: "ORDER_PAID" })
        yield* events.release(claimed.slice(1))
        assert.deepStrictEqual(yield* events.claim(3_000, [other.id]), claimed.slice(2))
        const [later] = yield* events.claim(3_000)
        assert.deepInclude(later, { receiverId: other.id, eventId: "later", attempts: 1 })
      })
    )

    it.effect("that need attention enter the tenant's journal once, with their result", () =>
      Effect.gen(function* () {
        const events = yield* ReceivedEvents
        const sql = yield* SqlClient.SqlClient
        yield* Effect.orDie(sql`delete from received_events`)
        const { tenant, id } = yield* aReceiver
        yield* events.record(id, [anEvent("a")], 1_000)
        const [lost] = yield* events.claim(1_000)
        const [claimed] = yield* events.claim(21_000)
        const lapsed = { status: "NEEDS_ATTENTION", outcome: "GRANT_LAPSED" } as const
        assert.isFalse(yield* events.settle(lost!, lapsed, {}))
        assert.isTrue(yield* events.settle(claimed!, lapsed, { orderId: randomUUID() }))
        assert.isFalse(yield* events.settle(claimed!, lapsed, {}))
        const noted = yield* sql<{ actor: string; subject_id: string; data: any }>`
          select actor, subject_id, data from tenant_events
          where ${ofTenant(sql, tenant)} and type = 'order.needs_attention'`
        assert.deepStrictEqual(noted, [
          {
            actor: `receiver:${id}`,
            // No order of the tenant has the id.
            subject_id: id,
            data: {
              changed: [],
              before: {},
              after: { reason: "GRANT_LAPSED", receiverId: id, receivedEventId: "a" },
              context: {}
            }
          }
        ])
      })
    )

    it.effect("of another tenant are not listed", () =>
      Effect.gen(function* () {
        const events = yield* ReceivedEvents
        const [{ id }, other] = [yield* aReceiver, yield* aReceiver]
        yield* events.record(id, [anEvent("a")], 1_000)
        assert.deepStrictEqual((yield* events.list(other.tenant, id, {}, {})).data, [])
      })
    )

    it.effect("are removed after 90 days", () =>
      Effect.gen(function* () {
        const events = yield* ReceivedEvents
        const { tenant, id } = yield* aReceiver
        const day = 86_400_000
        yield* events.record(id, [anEvent("old")], Date.now() - (receivedEventDays + 1) * day)
        yield* events.record(id, [anEvent("new")], Date.now() - (receivedEventDays - 1) * day)
        yield* removeExpired
        const { data } = yield* events.list(tenant, id, {}, {})
        assert.deepStrictEqual(
          data.map(({ eventId }) => eventId),
          ["new"]
        )
      })
    )
  })
})
