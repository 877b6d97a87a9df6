import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { markMilestones } from "../../../src/store/webhook/ExperienceMilestones.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { ofTenant } from "../../../src/store/records/Tenancy.ts"
import { aTenant, layer as records } from "../support/recordsFixture.ts"

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
