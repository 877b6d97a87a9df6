/** Erasing and exporting a consumer on the Admin API. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin, aQueue, layer as adminLayer } from "../adminFixture.ts"
import { anOrder } from "./orderFixture.ts"

/** Stands in everything that says who the consumer is. */
const canary = "canary"

/** The tables in which the text stands. */
const tablesWith = Effect.fnUntraced(function* (text: string) {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`
  const found: Array<string> = []
  for (const { name } of tables) {
    const rows = yield* sql`select 1 from ${sql(name)} t where t::text like ${`%${text}%`} limit 1`
    if (rows.length > 0) found.push(name)
  }
  return found
})

/** Creates a consumer that waits in a queue, belongs to an audience, has a session, an identity and an order. */
const aKnownConsumer = Effect.gen(function* () {
  const { call, brand } = yield* Admin
  const sql = yield* SqlClient.SqlClient
  const { organizationId, mode } = brand.tenant
  const { body } = yield* call("POST", "/consumers", {
    email: `${canary}@example.com`,
    fullName: `Ann ${canary}`,
    externalId: canary,
    attributes: { tier: canary },
    metadata: { note: canary }
  })
  const id = body.id as string
  const audience = yield* call("POST", "/audiences", { name: "Friends" })
  yield* call("POST", `/audiences/${audience.body.id}/members`, { consumerIds: [id] })
  yield* sql`
    insert into external_identities (organization_id, mode, provider, issuer, subject, consumer_id, created_at)
    values (${organizationId}, ${mode}, 'google', 'https://accounts.example', ${canary}, ${id}, now())`
  yield* sql`
    insert into one_time_codes (id, organization_id, mode, channel, address, client, hash, tries, unbound_tries, sent_at, expires_at)
    values (${randomUUID()}, ${organizationId}, ${mode}, 'email', ${`${canary}@example.com`}, 'c', 'h', 0, 0, now(), now())`
  const order = yield* anOrder({ consumerId: id, metadata: { address: `${canary} street` }, total: "20" })
  const queue = yield* aQueue()
  const engine = yield* Engine
  const ref = { kind: "queue", id: queue.id, tenant: brand.tenant } as const
  yield* engine.send(ref, { _tag: "Enter", consumerId: id, isGuest: false, loyaltyScore: 0 })
  return { id, audienceId: audience.body.id as string, orderId: order.id as string, queueId: queue.id }
})

describe("A consumer", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("that is erased leaves no personal data, and keeps its orders' sums", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, audienceId, orderId, queueId } = yield* aKnownConsumer
        assert.sameMembers(yield* tablesWith(canary), ["consumers", "external_identities", "one_time_codes", "orders"])

        const erased = yield* call("DELETE", `/consumers/${id}?erase=true`)
        assert.strictEqual(erased.status, 200, erased.text)
        assert.deepInclude(erased.body, { id, archived: true, email: null, fullName: null, metadata: null })
        assert.deepStrictEqual(yield* tablesWith(canary), [])

        const order = yield* call("GET", `/orders/${orderId}`)
        assert.deepInclude(order.body, { consumerId: id, total: "20", metadata: null })
        assert.strictEqual((yield* call("GET", `/audiences/${audienceId}`)).body.memberCount, 0)
        const places = yield* call("GET", `/distributions/${queueId}/consumers`)
        assert.strictEqual(places.body.data[0].status, "LEFT")
        const log = yield* call("GET", `/audit-log?subjectId=${id}&type=consumer.erased`)
        assert.strictEqual(log.body.data.length, 1)
        assert.include(log.body.data[0].changed, "email")

        // Neither a repetition nor a restoration changes anything.
        assert.deepStrictEqual((yield* call("DELETE", `/consumers/${id}?erase=true`)).body, erased.body)
        assert.strictEqual((yield* call("POST", `/consumers/${id}/restore`)).status, 404)
      })
    )

    it.effect("is erased by its own organization only, also after it was archived", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { body } = yield* call("POST", "/consumers", { email: `ann.${randomUUID()}@example.com` })
        const path = `/consumers/${body.id}?erase=true`
        for (const other of [stranger, rehearsal]) {
          assert.strictEqual((yield* call("DELETE", path, undefined, other)).status, 404)
        }
        assert.strictEqual((yield* call("DELETE", `/consumers/${body.id}`)).body.email, body.email)
        assert.strictEqual((yield* call("DELETE", path)).body.email, null)
        assert.strictEqual((yield* call("DELETE", `/consumers/${body.id}?erase=perhaps`)).status, 400)
      })
    )

    it.effect("is exported with everything that is stored about it", () =>
      Effect.gen(function* () {
        const { call, stranger } = yield* Admin
        const { id, audienceId, orderId, queueId } = yield* aKnownConsumer
        const { status, body } = yield* call("GET", `/consumers/${id}/export`)
        assert.strictEqual(status, 200)
        assert.deepInclude(body.consumer, { id, email: `${canary}@example.com`, metadata: { note: canary } })
        assert.deepStrictEqual(
          body.identities.map(({ subject }: { subject: string }) => subject),
          [canary]
        )
        assert.deepStrictEqual(
          body.audiences.map((audience: { id: string }) => audience.id),
          [audienceId]
        )
        assert.deepStrictEqual(
          body.orders.map((order: { id: string }) => order.id),
          [orderId]
        )
        assert.deepInclude(body.places[0], { distributionId: queueId, distributionType: "queue", status: "QUEUED" })
        assert.deepInclude(body.events[0], { distributionId: queueId, type: "Entered" })
        assert.isTrue(body.isComplete)
        assert.strictEqual((yield* call("GET", `/consumers/${id}/export`, undefined, stranger)).status, 404)
      })
    )
  })
})
