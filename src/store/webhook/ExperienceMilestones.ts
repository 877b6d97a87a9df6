/**
 * When experiences open and close, as webhooks tell it, once each: at their own `openAt` and `closeAt`. An experience
 * without an opening opens with the first of its mechanisms, which without an opening is its creation. One without a
 * closing closes when the last of them is closed or ended. Waitlists, and mechanisms that are archived, do not count.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { heldCloseAt, heldOpenAt } from "../mechanism/MechanismLifecycle.ts"
import { ofTenant, timeOfTenant } from "../records/Tenancy.ts"

/** Experiences that one statement marks. */
const markedAtOnce = 500

const milestones = [
  { column: "activated_at", ownTime: "openAt" },
  { column: "completed_at", ownTime: "closeAt" }
] as const
type Milestone = (typeof milestones)[number]

/** True if an experience `e` has reached a milestone by a time, and it is not marked yet. */
const isReached = (sql: SqlClient.SqlClient, { column, ownTime }: Milestone, at: Fragment): Fragment => {
  const ofExperience = sql`from mechanisms m where m.experience_id = e.id and not m.archived and m.kind <> 'waitlist'`
  const isOver = sql`
    (m.status_override is not null or m.teardown_status is not null or coalesce(${heldCloseAt(sql)} <= ${at}, false))`
  const isPast =
    column === "activated_at"
      ? sql`exists (select ${ofExperience} and coalesce(${heldOpenAt(sql)}, m.created_at) <= ${at})`
      : sql`(select bool_and(${isOver}) ${ofExperience})`
  return sql`not e.archived and (e.activated_at is null or e.completed_at is null) and e.${sql(column)} is null
    and coalesce((e.record ->> ${ownTime})::timestamptz <= ${at}, ${isPast})`
}

/** True if an experience of the tenant has reached a milestone by an instant, and it is not marked yet. */
export const hasMilestones = (sql: SqlClient.SqlClient, tenant: Tenant, at: Millis): Fragment => {
  const [opening, closing] = milestones.map((one) => isReached(sql, one, sql`${new Date(at)}::timestamptz`))
  return sql`exists (select from experiences e where ${ofTenant(sql, tenant, "e")} and (${opening!} or ${closing!}))`
}

/**
 * Marks what has passed by now, or by the time of a test clock, for all tenants or for one. The database notes an event
 * for each mark. Returns how many there are.
 */
export const markMilestones = Effect.fnUntraced(function* (now: Millis, tenant?: Tenant) {
  const sql = yield* SqlClient.SqlClient
  const marked = yield* Effect.forEach(
    milestones,
    (milestone) => sql`
      update experiences set ${sql(milestone.column)} = ${timeOfTenant(sql, "experiences", now)}
      where ${sql(milestone.column)} is null and id = any(array(
        select e.id from experiences e
        where ${tenant === undefined ? sql`true` : ofTenant(sql, tenant, "e")}
          and ${isReached(sql, milestone, timeOfTenant(sql, "e", now))}
        order by e.id limit ${markedAtOnce}
      )) returning 1`
  )
  return marked.flat().length
})
