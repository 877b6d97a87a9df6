/** Removes old security events: those beyond the retention, and those beyond the number that one tenant keeps. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { securityEventDays, securityEventsMax } from "../../domain/organization/Retention.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { ofSameTenant } from "../records/Tenancy.ts"

const dayMillis = 86_400_000

/** Removes at most `rowsMax` events. Returns how many. */
export const removeOld = Effect.fnUntraced(function* (
  now: Millis,
  rowsMax: number,
  { eventsMax: kept = securityEventsMax }: { readonly eventsMax?: number } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly count: number }>`
    with tenants as (
      select o.id as organization_id, m.mode from organizations o cross join (values ('live'), ('test')) as m (mode)
    ), surplus as (
      select t.organization_id, t.mode, cut.first_at from tenants t cross join lateral (
        select e.first_at from security_events e where ${ofSameTenant(sql, "e", "t")}
        order by e.first_at desc, e.id desc offset ${kept} limit 1
      ) cut
    ), gone as (
      delete from security_events where ctid = any(array(
        select e.ctid from security_events e left join surplus s on ${ofSameTenant(sql, "s", "e")}
        where e.first_at < ${new Date(now - securityEventDays * dayMillis)} or e.first_at <= s.first_at
        limit ${rowsMax} for update of e skip locked
      )) returning 1
    )
    select count(*)::int as count from gone`
  return rows[0]!.count
})
