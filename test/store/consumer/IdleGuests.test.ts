/** Guests that have nothing are removed after thirty days. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { removeIdleGuests } from "../../../src/store/consumer/IdleGuests.ts"
import { asConsumer, asServer, layer as apis, Usher } from "../../http/support/usherFixture.ts"
import { withoutBounds } from "../../../src/store/postgres/BoundedClient.ts"

/** Moves the creation of all guests so many days back. */
const age = (days: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update consumers set created_at = now() - make_interval(days => ${days})`
  )

/** Ends all sessions, and deletes them as their expiry does. */
const endSessions = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`truncate sessions`)

const remaining = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql<{ readonly id: string }>`select id from consumers`, (rows) => new Set(rows.map(({ id }) => id)))
)

layer(apis, { excludeTestServices: true })("Guests", (it) => {
  it.effect("stay for thirty days, and for as long as they have a session", () =>
    Effect.gen(function* () {
      const { guest } = yield* Usher
      const { consumerId } = yield* guest()
      yield* age(31)
      assert.strictEqual(yield* removeIdleGuests, 0)
      yield* endSessions
      yield* age(29)
      assert.strictEqual(yield* removeIdleGuests, 0)
      yield* age(31)
      assert.strictEqual(yield* removeIdleGuests, 1)
      assert.isFalse((yield* remaining).has(consumerId))
    })
  )

  it.effect("stay with a place, also one of an archived mechanism; with an order; and with an address", () =>
    Effect.gen(function* () {
      const { admin, brand, consumer, guest, queue } = yield* Usher
      const sql = yield* SqlClient.SqlClient
      const [idle, placed, ordered, known] = yield* Effect.replicateEffect(guest(), 4)
      const queueId = yield* queue()
      yield* consumer({
        method: "POST",
        path: `/api/queues/${queueId}/enter`,
        headers: asConsumer(brand.publishableKey, placed!.accessToken)
      })
      yield* admin({ method: "DELETE", path: `/api/queues/${queueId}`, headers: asServer(brand.secretKey) })
      const order = yield* admin({
        method: "POST",
        path: "/api/orders",
        headers: asServer(brand.secretKey),
        body: { consumerId: ordered!.consumerId, total: "1.00", currencyCode: "USD" }
      })
      assert.strictEqual(order.status, 201, order.text)
      yield* sql`update consumers set full_name = 'Ada' where id = ${known!.consumerId}`
      yield* endSessions
      yield* age(31)
      const counts = yield* Effect.all([removeIdleGuests, removeIdleGuests], { concurrency: "unbounded" })
      assert.strictEqual(counts[0] + counts[1], 1)
      const left = yield* remaining
      assert.deepStrictEqual(
        [idle, placed, ordered, known].map((one) => left.has(one!.consumerId)),
        [false, true, true, true]
      )
    })
  )

  it.effect("are removed in batches, past those that stay", () =>
    Effect.gen(function* () {
      const { brand } = yield* Usher
      const sql = yield* SqlClient.SqlClient
      yield* withoutBounds(sql`
        insert into consumers (id, organization_id, mode, type, created_at)
        select gen_random_uuid(), ${brand.organizationId}, 'live', 'guest', now() - interval '40 days'
        from generate_series(1, 12000)`)
      assert.strictEqual(yield* removeIdleGuests, 12_000)
    })
  )
})
