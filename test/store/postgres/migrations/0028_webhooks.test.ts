/** A mechanism that was recorded before webhooks, and before every later step. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { PgClient } from "@effect/sql-pg"
import { deciders } from "../../../../src/domain/mechanism/Mechanism.ts"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Settings } from "../../../../src/settings/Settings.ts"
import * as JournalCodec from "../../../../src/store/journal/JournalCodec.ts"
import * as JournalSql from "../../../../src/store/journal/JournalSql.ts"
import { Places } from "../../../../src/store/mechanism/Places.ts"
import { Webhooks } from "../../../../src/store/webhook/Webhooks.ts"
import { addOrganization, anyId, databaseAt, organizationId } from "./earlierSchema.ts"

const tenant = { organizationId, mode: "live" } as const

const services = Layer.mergeAll(Places.layer, Webhooks.layer, Engine.layer({ node: "test" })).pipe(
  Layer.provide(JournalSql.layer({ codecs: JournalCodec.codecs(deciders) })),
  Layer.provide(Layer.mergeAll(Settings.layerTest(), SecureRandom.layerWebCrypto))
)

const [experienceId, sequenceId, queueId, ann, bob] = [4001, 4002, 4003, 4004, 4005].map(anyId) as [
  string,
  string,
  string,
  string,
  string
]

/** Writes a queue in which Ann holds a grant and Bob waits, as the version of step 24 wrote it. */
const addQueue = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const stamps = { created_at: new Date(), created_by: "x", updated_at: new Date(), updated_by: "x" }
  const owner = { organization_id: organizationId, mode: "live" }
  yield* sql`insert into experiences ${sql.insert({ id: experienceId, ...owner, name: "Drop", record: sql.json({}), ...stamps })}`
  yield* sql`insert into sequences ${sql.insert({
    id: sequenceId,
    ...owner,
    experience_id: experienceId,
    name: "All",
    record: sql.json({}),
    ...stamps
  })}`
  const configuration = {
    name: "Line",
    timeZone: "UTC",
    supportsGuest: true,
    admitRate: 0,
    recycleExpiredAdmissions: false,
    loyaltyBiasEnabled: false,
    loyaltyHeadStartSeconds: 60
  }
  yield* sql`insert into mechanisms ${sql.insert({
    id: queueId,
    ...owner,
    experience_id: experienceId,
    sequence_id: sequenceId,
    kind: "queue",
    configuration: sql.json(configuration),
    ...stamps
  })}`
  yield* sql`insert into mechanism_heads (mechanism_id, sequence) values (${queueId}, 4)`
  yield* sql`
    insert into journal (mechanism_id, sequence, at, type, consumer_id, data) values
      (${queueId}, 1, '2026-11-01T10:00:00Z', 'Configured', null, ${sql.json({ configuration, by: "x" })}),
      (${queueId}, 2, '2026-11-01T10:00:01Z', 'Entered', ${ann}, null),
      (${queueId}, 3, '2026-11-01T10:00:02Z', 'Entered', ${bob}, ${sql.json({ loyaltyScore: 0.5 })}),
      (${queueId}, 4, '2026-11-01T10:00:03Z', 'Granted', ${ann}, ${sql.json({ by: "x" })})`
  yield* sql`
    insert into places (mechanism_id, consumer_id, status, entered_at, updated_at, fields) values
      (${queueId}, ${ann}, 'GRANTED', '2026-11-01T10:00:01Z', '2026-11-01T10:00:03Z',
        '{"grantedAt": "2026-11-01T10:00:03.000Z"}'),
      (${queueId}, ${bob}, 'QUEUED', '2026-11-01T10:00:02Z', '2026-11-01T10:00:02Z', null)`
})

describe("Steps 0025 to the last", () => {
  it.live("keep a mechanism with its places and its journal; it continues, and a webhook can be made for it", () =>
    Effect.gen(function* () {
      const { sql, database, migrate } = yield* databaseAt(24)
      yield* addOrganization(sql)
      yield* addQueue(sql)
      const rows = sql`
        select to_jsonb(j) - 'data' as row, data from journal j
        union all select to_jsonb(p), null from places p
        union all select to_jsonb(h) - 'level', null from mechanism_heads h`
      const before = yield* rows
      assert.include(yield* migrate, 28)
      assert.deepStrictEqual(yield* rows, before)
      yield* Effect.gen(function* () {
        const engine = yield* Engine
        const places = yield* Places
        const queue = { kind: "queue", id: queueId, tenant } as const
        assert.deepInclude(yield* engine.view(queue, ann), {
          status: "GRANTED",
          grantedAt: Date.parse("2026-11-01T10:00:03Z")
        })
        assert.deepInclude(yield* engine.view(queue, bob), { status: "QUEUED", position: 1 })
        yield* engine.send(queue, { _tag: "Admit", consumerId: bob, by: "shop" })
        const { data } = yield* places.list(tenant, queueId, {}, {})
        assert.deepStrictEqual(
          data.map(({ consumerId, status, risk }) => [consumerId, status, risk.score]),
          [
            [ann, "GRANTED", 0],
            [bob, "GRANTED", 0]
          ]
        )
        const webhooks = yield* Webhooks
        const settings = { url: "https://shop.example/", events: ["distribution.joined"] as const }
        const { webhook } = yield* webhooks.create(tenant, "test", settings, undefined)
        assert.lengthOf(yield* sql`select id from webhooks where id = ${webhook.id}`, 1)
      }).pipe(Effect.provide(Layer.provide(services, database)))
    })
  )
})
