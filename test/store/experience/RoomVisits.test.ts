/** The visits of rooms: counted in memory, written together, and read by analytics. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import type { Where } from "../../../src/domain/organization/Analytics.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { keptDays, removeOldVisits, RoomVisits } from "../../../src/store/experience/RoomVisits.ts"
import { Analytics } from "../../../src/store/organization/Analytics.ts"
import { aTenant, inTestMode, layer as recordsLayer } from "../support/recordsFixture.ts"

const at = (text: string) => Date.parse(text)

const aRoom = Effect.fnUntraced(function* (tenant: Tenant) {
  const experience = yield* (yield* Experiences).create(tenant, "x", {
    name: "Drop",
    timeZone: "UTC",
    currencyCode: "EUR"
  })
  return { tenant, experienceId: experience.id }
})

/** A process that counts visits. It ends with `end`. */
const counting = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const visits = Context.get(yield* Layer.buildWithScope(RoomVisits.layer, scope), RoomVisits)
  return { visits, end: Scope.close(scope, Exit.void) }
})

const visitsOf = Effect.fnUntraced(function* (tenant: Tenant, where: Where = {}) {
  const range = { from: at("2026-11-21T10:00:00Z"), to: at("2026-11-21T12:00:00Z") }
  const wanted = [{ kind: "room", type: "visited", field: null }] as const
  const tallies = yield* (yield* Analytics).tallies(tenant, { wanted, range, interval: "1h", where })
  return tallies
    .toSorted((one, other) => one.bucket - other.bucket)
    .map(({ bucket, count }) => `${new Date(bucket).toISOString().slice(11, 16)}: ${count}`)
})

layer(Analytics.layer.pipe(Layer.provideMerge(recordsLayer)), { excludeTestServices: true })(
  "Visits of rooms",
  (it) => {
    it.effect("of several processes are added up by the minute, when each ends", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const [room, other] = [yield* aRoom(tenant), yield* aRoom(tenant)]
        const [one, two] = [yield* counting, yield* counting]
        yield* Effect.gen(function* () {
          yield* TestClock.setTime(at("2026-11-21T10:59:59Z"))
          yield* one.visits.count(room)
          yield* two.visits.count(room)
          yield* one.visits.count(other)
          yield* TestClock.setTime(at("2026-11-21T11:00:00Z"))
          yield* one.visits.count(room)
        }).pipe(Effect.provide(TestClock.layer()))
        assert.deepStrictEqual(yield* visitsOf(tenant), [])
        yield* one.end
        yield* two.end
        assert.deepStrictEqual(yield* visitsOf(tenant), ["10:00: 3", "11:00: 1"])
        assert.deepStrictEqual(yield* visitsOf(tenant, { experienceId: other.experienceId }), ["10:00: 1"])
      })
    )

    it.effect("are the tenant's alone, and have no mechanism and no currency", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const { visits, end } = yield* counting
        const room = yield* aRoom(tenant)
        yield* Effect.andThen(TestClock.setTime(at("2026-11-21T10:10:00Z")), visits.count(room)).pipe(
          Effect.provide(TestClock.layer())
        )
        yield* end
        assert.deepStrictEqual(yield* visitsOf(tenant), ["10:00: 1"])
        for (const stranger of [inTestMode(tenant), yield* aTenant()])
          assert.deepStrictEqual(yield* visitsOf(stranger, { experienceId: room.experienceId }), [])
        for (const where of [
          { currencyCode: "EUR" },
          { distributionType: "queue" },
          { sequenceId: room.experienceId }
        ] as const)
          assert.deepStrictEqual(yield* visitsOf(tenant, where), [])
      })
    )

    it.effect("are removed once no query can cover them", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const { experienceId } = yield* aRoom(tenant)
        for (const days of [keptDays - 1, keptDays + 1])
          yield* sql`insert into room_visits (organization_id, mode, experience_id, at, visits)
            values (${tenant.organizationId}, ${tenant.mode}, ${experienceId}, now() - ${days} * interval '1 day', ${days})`
        yield* removeOldVisits
        const left = yield* sql`select visits from room_visits where experience_id = ${experienceId}`
        assert.deepStrictEqual(left, [{ visits: keptDays - 1 }])
      })
    )
  }
)
