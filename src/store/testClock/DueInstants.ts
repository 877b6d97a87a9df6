/**
 * What is due in an organization's test mode, by the database: the wake-ups of mechanisms, rounds of the beacon, openings
 * and closings of experiences, and messages. An advance of the test clock stops at each such instant, and goes on when
 * nothing is overdue.
 */
import { Context, Effect } from "effect"
import type { PgClient } from "@effect/sql-pg"
import * as Draw from "../../domain/draw/Draw.ts"
import { lateGrantKinds } from "../../domain/mechanism/Mechanism.ts"
import { outbidPauseMinutes, reminderLeadMinutes } from "../../domain/message/Alert.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { heldCloseAt, heldOpenAt } from "../mechanism/MechanismLifecycle.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** What should have happened and has not. */
export interface Overdue {
  /** In words, for the operator. */
  readonly what: string
  /** Changes whenever anything has happened. */
  readonly mark: string
}

export class DueInstants extends Context.Service<
  DueInstants,
  {
    /** Returns the next instant after one at which something is due; undefined if nothing is. */
    next(tenant: Tenant, after: Millis): Effect.Effect<Millis | undefined, Unavailable>
    /** Returns what is due at an instant and has not happened; undefined if everything has. */
    overdue(tenant: Tenant, at: Millis): Effect.Effect<Overdue | undefined, Unavailable>
  }
>()("usher/store/testClock/DueInstants") {
  static readonly layer = onDatabase(DueInstants, (sql) => ({ next: makeNext(sql), overdue: makeOverdue(sql) }))
}

/** The draws that wait for the beacon, with their rounds. */
const awaitingBeacon = (sql: PgClient.PgClient, tenant: Tenant) => sql<{
  readonly name: string
  readonly round: number
}>`
  select m.configuration ->> 'name' as name, (m.configuration ->> 'beaconRound')::int as round from mechanisms m
  where ${ofTenant(sql, tenant, "m")} and m.kind = 'draw' and m.configuration ? 'beaconRound'
    and not m.configuration ? 'drawnAt' and m.status_override is null and m.teardown_status is distinct from 'completed'
    and not exists (select from journal j where j.mechanism_id = m.id and j.type = 'BeaconProvided')`

const makeNext = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (tenant: Tenant, after: Millis) {
    const at = sql`${new Date(after)}::timestamptz`
    const wakeUps = sql<{ readonly at: Date | null }>`
      select min(found.at) as at from (
        select h.wake_at as at from mechanisms m join mechanism_heads h on h.mechanism_id = m.id
        where ${ofTenant(sql, tenant, "m")}
        union all
        select unnest(array[
          ${heldOpenAt(sql)}, ${heldCloseAt(sql)}, ${heldOpenAt(sql)} - make_interval(mins => ${reminderLeadMinutes})
        ])
        from mechanisms m
        where ${ofTenant(sql, tenant, "m")} and not m.archived and m.teardown_status is distinct from 'completed'
        union all
        select unnest(array[(e.record ->> 'openAt')::timestamptz, (e.record ->> 'closeAt')::timestamptz])
        from experiences e where ${ofTenant(sql, tenant, "e")} and not e.archived
        union all
        select g.retry_at from grant_messages g join mechanisms m on m.id = g.mechanism_id
        where ${ofTenant(sql, tenant, "m")}
        union all
        select a.tried_at + make_interval(mins => ${outbidPauseMinutes}) from alerts a
        where ${ofTenant(sql, tenant, "a")} and a.topic = 'OUTBID'
      ) found where found.at > ${at}`
    const [[row], awaiting] = yield* Effect.all([wakeUps, awaitingBeacon(sql, tenant)], { concurrency: 2 })
    const rounds = awaiting.map(({ round }) => Draw.timeOfRound(round))
    const instants = [row?.at?.getTime() ?? Infinity, ...rounds.filter((round) => round > after)]
    const next = Math.min(...instants)
    return next === Infinity ? undefined : next
  }, orUnavailable)

const makeOverdue = (sql: PgClient.PgClient) => {
  const heads = (tenant: Tenant, at: Millis) => sql<{
    readonly name: string
    readonly kind: string
    readonly mark: string
  }>`
    select m.configuration ->> 'name' as name, m.kind, m.id || ' ' || h.sequence || ' ' || p.sequence as mark
    from mechanisms m join mechanism_heads h on h.mechanism_id = m.id
    join place_projections p on p.mechanism_id = m.id
    where ${ofTenant(sql, tenant, "m")} and (h.wake_at <= ${new Date(at)}::timestamptz or p.sequence < h.sequence)
    order by h.wake_at, m.id`

  /** Waitlists with members to notify: those whose notice is due, until each member is marked. */
  const notices = (tenant: Tenant) => sql<{ readonly name: string; readonly left: number }>`
    select m.configuration ->> 'name' as name, count(*)::int as left from mechanisms m
    join places p on p.mechanism_id = m.id and p.status = 'ENTERED'
    where ${ofTenant(sql, tenant, "m")} and m.kind = 'waitlist' and not m.archived and m.status_override is null
      and (
        select j.type = 'NoticeDue' from journal j
        where j.mechanism_id = m.id and j.type in ('NoticeScheduled', 'NoticeDue') order by j.sequence desc limit 1
      )
    group by m.id`

  /** Mechanisms with events about which messages may be owed. */
  const messages = (tenant: Tenant, at: Millis) => sql<{ readonly name: string; readonly mark: string }>`
    select m.configuration ->> 'name' as name, m.id || ' ' || coalesce(c.sequence, 0) as mark
    from organizations o join mechanisms m on ${ofTenant(sql, tenant, "m")}
    join mechanism_heads h on h.mechanism_id = m.id
    left join grant_message_cursors c on c.mechanism_id = m.id
    where o.id = ${tenant.organizationId} and o.settings ->> 'grantMessages' <> 'off'
      and m.kind = any(${lateGrantKinds}::text[]) and m.configuration ->> 'auctionType' is distinct from 'dutch'
      and m.teardown_status is distinct from 'completed' and (
        h.sequence > coalesce(c.sequence, 0) or exists (
          select from grant_messages g where g.mechanism_id = m.id and g.retry_at <= ${new Date(at)}::timestamptz
        )
      )`

  return Effect.fnUntraced(function* (tenant: Tenant, at: Millis) {
    const [late, awaiting, waitlists, owed] = yield* Effect.all(
      [heads(tenant, at), awaitingBeacon(sql, tenant), notices(tenant), messages(tenant, at)],
      { concurrency: "unbounded" }
    )
    const draws = awaiting.filter(({ round }) => Draw.timeOfRound(round) <= at)
    const reasons = [
      ...late.map(({ kind, name, mark }) => [`the ${kind} "${name}" has not acted`, mark]),
      ...draws.map(({ name, round }) => [`the draw "${name}" waits for round ${round} of the beacon`, `${round}`]),
      ...waitlists.map(({ name, left }) => [`the waitlist "${name}" has ${left} members to notify`, `${left}`]),
      ...owed.map(({ name, mark }) => [`messages about "${name}" have not been sent`, mark])
    ]
    const [first] = reasons
    if (first === undefined) return undefined
    return { what: first[0]!, mark: reasons.map(([, mark]) => mark).join() }
  }, orUnavailable)
}
