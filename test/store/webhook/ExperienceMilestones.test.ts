import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { markMilestones } from "../../../src/store/webhook/ExperienceMilestones.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { ofTenant } from "../../../src/store/records/Tenancy.ts"
import { aQueue, aTenant, layer as records } from "../support/recordsFixture.ts"

const [openAt, closeAt] = [1_000_000, 2_000_000]
const drop = { name: "Drop", timeZone: "UTC", currencyCode: "USD" }

const eventsOf = Effect.fnUntraced(function* (tenant: Tenant, id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ type: string; actor: string }>`
    select type, actor from tenant_events where ${ofTenant(sql, tenant)} and subject_id = ${id} order by sequence`
  return rows.filter(({ actor }) => actor === "system").map(({ type }) => type)
})

describe("The milestones of an experience", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("are noted once, when its opening and its closing have passed", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const { id } = yield* experiences.create(tenant, "x", { ...drop, openAt, closeAt })
        const timeless = yield* experiences.create(tenant, "x", drop)
        const archived = yield* experiences.create(tenant, "x", { ...drop, openAt, closeAt })
        yield* experiences.archive(tenant, archived.id, "x")
        assert.strictEqual(yield* markMilestones(openAt - 1), 0)
        assert.strictEqual(yield* markMilestones(openAt), 1)
        assert.deepStrictEqual(yield* eventsOf(tenant, id), ["experience.activated"])
        assert.strictEqual(yield* markMilestones(closeAt - 1), 0)
        const rounds = yield* Effect.all([markMilestones(closeAt), markMilestones(closeAt)], { concurrency: 2 })
        assert.strictEqual(rounds[0] + rounds[1], 1)
        assert.strictEqual(yield* markMilestones(closeAt * 2), 0)
        assert.deepStrictEqual(yield* eventsOf(tenant, id), ["experience.activated", "experience.completed"])
        for (const other of [timeless, archived]) assert.deepStrictEqual(yield* eventsOf(tenant, other.id), [])
      })
    )

    it.effect("follow the mechanisms of an experience without dates, once each", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const { id: experienceId } = yield* experiences.create(tenant, "x", drop)
        const createdAt = 3_000_000
        const add = (configuration: object) =>
          Effect.tap(
            aQueue(tenant, { experienceId, configuration }),
            ({ id }) => sql`update mechanisms set created_at = ${new Date(createdAt)} where id = ${id}`
          )
        const events = eventsOf(tenant, experienceId)
        yield* markMilestones(createdAt)
        assert.deepStrictEqual(yield* events, [])
        const planned = yield* add({ openAt: createdAt + 1_000, closeAt: createdAt + 5_000 })
        yield* markMilestones(createdAt + 999)
        assert.deepStrictEqual(yield* events, [])
        const open = yield* add({})
        yield* markMilestones(createdAt + 999)
        assert.deepStrictEqual(yield* events, ["experience.activated"])
        // One is closed, the other goes on.
        yield* markMilestones(createdAt + 6_000)
        assert.deepStrictEqual(yield* events, ["experience.activated"])
        yield* sql`update mechanisms set status_override = 'ended', teardown_status = 'pending' where id = ${open.id}`
        yield* markMilestones(createdAt + 4_999)
        assert.deepStrictEqual(yield* events, ["experience.activated"])
        yield* markMilestones(createdAt + 5_000)
        assert.deepStrictEqual(yield* events, ["experience.activated", "experience.completed"])
        yield* add({})
        yield* markMilestones(createdAt + 9_000)
        yield* sql`update mechanisms set archived = true where id = ${planned.id}`
        yield* markMilestones(createdAt + 9_000)
        assert.deepStrictEqual(yield* events, ["experience.activated", "experience.completed"])
      })
    )

    it.effect("do not follow mechanisms that are archived, waitlists, or those of an experience with dates", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        for (const [change, settings] of [
          [sql`archived = true`, drop],
          [sql`kind = 'waitlist'`, drop],
          [sql`status_override = 'ended'`, { ...drop, openAt: Date.now() * 2, closeAt: Date.now() * 2 + 1 }],
          [sql`teardown_status = 'completed'`, { ...drop, openAt: Date.now() * 2, closeAt: Date.now() * 2 + 1 }]
        ] as const) {
          const { id: experienceId } = yield* experiences.create(tenant, "x", settings)
          const { id } = yield* aQueue(tenant, { experienceId, configuration: { closeAt: 1_000 } })
          yield* sql`update mechanisms set ${change} where id = ${id}`
          yield* markMilestones(Date.now() + 1_000)
          assert.deepStrictEqual(yield* eventsOf(tenant, experienceId), [])
        }
      })
    )

    it.effect("do not change the author of its last change", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const created = yield* experiences.create(tenant, "x", { ...drop, openAt, closeAt })
        yield* markMilestones(closeAt)
        assert.deepStrictEqual(yield* experiences.find(tenant, created.id), created)
      })
    )
  })
})
