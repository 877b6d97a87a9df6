/**
 * What is due in an organization's test mode, by the database: the wake-ups of mechanisms, rounds of the beacon, openings
 * and closings of experiences, shares of stocks, and messages. An advance of the test clock stops at each such instant, and goes on when
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
import { hasMilestones } from "../webhook/ExperienceMilestones.ts"

/** What should have happened and has not. */
export interface Overdue {
  /** In words, for the operator. */
  readonly what: string
  /** Changes whenever anything has happened. */
  readonly mark: string
}

/** What is to be done at the time of a test clock. */
export interface DueWork {
  /** What the processes do by themselves and have not done yet; undefined if they have. */
  readonly overdue: Overdue | undefined
  /** True if openings or closings of experiences are to be marked. */
  readonly hasMilestones: boolean
  /** True if consumers have asked for emails. Those may be due. */
  readonly hasAlerts: boolean
  /** True if there are waitlists. What opens next for them may have changed. */
  readonly hasWaitlists: boolean
  /** The stocks, in the order of their creation. Units may have to be carried. */
  readonly stockIds: ReadonlyArray<string>
  /** The next instant at which something is due; undefined if nothing is. */
  readonly nextAt: Millis | undefined
}

export class DueInstants extends Context.Service<
  DueInstants,
  {
    /** Returns the next instant after one at which something is due; undefined if nothing is. */
    next(tenant: Tenant, after: Millis): Effect.Effect<Millis | undefined, Unavailable>
    /** Returns what is due at an instant and has not happened. */
    work(tenant: Tenant, at: Millis): Effect.Effect<DueWork, Unavailable>
  }
>()("usher/store/testClock/DueInstants") {
  static readonly layer = onDatabase(DueInstants, (sql) => ({ next: makeNext(sql), work: makeWork(sql) }))
}

/** The draws that wait for the beacon. */
const awaitingBeacon = (sql: PgClient.PgClient, tenant: Tenant) => sql`
  ${ofTenant(sql, tenant, "m")} and m.kind = 'draw' and m.configuration ? 'beaconRound'
    and not m.configuration ? 'drawnAt' and m.status_override is null and m.teardown_status is distinct from 'completed'
    and not exists (select from journal j where j.mechanism_id = m.id and j.type = 'BeaconProvided')`

const roundOf = (sql: PgClient.PgClient) => sql`(m.configuration ->> 'beaconRound')::int`

/** The instants at which something is due, except rounds of the beacon. */
const instants = (sql: PgClient.PgClient, tenant: Tenant) => sql`
  select h.wake_at as at from mechanisms m join mechanism_heads h on h.mechanism_id = m.id
  where ${ofTenant(sql, tenant, "m")}
  union all
  select unnest(array[
    ${heldOpenAt(sql)}, ${heldCloseAt(sql)}, ${heldOpenAt(sql)} - make_interval(mins => ${reminderLeadMinutes})
  ])
  from mechanisms m
  where ${ofTenant(sql, tenant, "m")} and not m.archived and m.teardown_status is distinct from 'completed'
  union all
  select (taker ->> 'from')::timestamptz
  from mechanisms m, jsonb_array_elements(m.configuration -> 'takers') taker
  where ${ofTenant(sql, tenant, "m")} and m.kind = 'stock' and m.teardown_status is distinct from 'completed'
  union all
  select unnest(array[(e.record ->> 'openAt')::timestamptz, (e.record ->> 'closeAt')::timestamptz])
  from experiences e where ${ofTenant(sql, tenant, "e")} and not e.archived
  union all
  select g.retry_at from grant_messages g join mechanisms m on m.id = g.mechanism_id
  where ${ofTenant(sql, tenant, "m")}
  union all
  select a.tried_at + make_interval(mins => ${outbidPauseMinutes}) from alerts a
  where ${ofTenant(sql, tenant, "a")} and a.topic = 'OUTBID'`

/** Returns the earliest of an instant and of rounds of the beacon that are later than `after`. */
const earliest = (at: Date | null, rounds: ReadonlyArray<number>, after: Millis): Millis | undefined => {
  const times = rounds.map((round) => Draw.timeOfRound(round)).filter((time) => time > after)
  const next = Math.min(at?.getTime() ?? Infinity, ...times)
  return next === Infinity ? undefined : next
}

const makeNext = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (tenant: Tenant, after: Millis) {
    const [row] = yield* sql<{ readonly at: Date | null; readonly rounds: ReadonlyArray<number> }>`
      select min(found.at) as at, array(
        select ${roundOf(sql)} from mechanisms m where ${awaitingBeacon(sql, tenant)}
      ) as rounds
      from (${instants(sql, tenant)}) found where found.at > ${new Date(after)}::timestamptz`
    return earliest(row!.at, row!.rounds, after)
  }, orUnavailable)

/** What a row is about, in the order in which reasons are told. */
const sources = [
  "head",
  "draw",
  "notice",
  "message",
  "order",
  "milestone",
  "alert",
  "waitlist",
  "stock",
  "next"
] as const

interface Row {
  readonly source: (typeof sources)[number]
  readonly name: string
  /** The kind of a head, the round of a draw, the members of a waitlist, the number of orders. */
  readonly detail: string
  readonly at: Date | null
  readonly mark: string
}

/** What the worker itself does. */
const others = (sql: PgClient.PgClient, tenant: Tenant, at: Millis) => sql`
  select 'milestone', '', '', null, '' where ${hasMilestones(sql, tenant, at)}
  union all
  select 'alert', '', '', null, '' where exists (select from alerts a where ${ofTenant(sql, tenant, "a")})
  union all
  select 'waitlist', '', '', null, '' where exists (
    select from mechanisms m where ${ofTenant(sql, tenant, "m")} and m.kind = 'waitlist' and not m.archived
      and m.teardown_status is distinct from 'completed'
  )
  union all
  select 'stock', '', '', null, m.id::text from mechanisms m
  where ${ofTenant(sql, tenant, "m")} and m.kind = 'stock' and m.teardown_status is distinct from 'completed'
  union all
  select 'next', '', '', min(found.at), '' from (${instants(sql, tenant)}) found
  where found.at > ${new Date(at)}::timestamptz`

/** One statement, because each step of an advance asks several times. */
const makeWork = (sql: PgClient.PgClient) => {
  const heads = (tenant: Tenant, at: Date) => sql`
    select 'head' as source, m.configuration ->> 'name' as name, m.kind as detail, h.wake_at as at,
      m.id || ' ' || h.sequence || ' ' || p.sequence as mark
    from mechanisms m join mechanism_heads h on h.mechanism_id = m.id
    join place_projections p on p.mechanism_id = m.id
    where ${ofTenant(sql, tenant, "m")} and (h.wake_at <= ${at}::timestamptz or p.sequence < h.sequence)`

  const draws = (tenant: Tenant) => sql`
    select 'draw', m.configuration ->> 'name', ${roundOf(sql)}::text, null, m.id::text
    from mechanisms m where ${awaitingBeacon(sql, tenant)}`

  /** Waitlists with members to notify: those whose notice is due, until each member is marked. One that offers tells none. */
  const notices = (tenant: Tenant) => sql`
    select 'notice', m.configuration ->> 'name', count(*)::text, null, m.id || ' ' || count(*) from mechanisms m
    join places p on p.mechanism_id = m.id and p.status = 'ENTERED'
    where ${ofTenant(sql, tenant, "m")} and m.kind = 'waitlist' and not m.archived and m.status_override is null
      and (m.configuration -> 'offers') is distinct from 'true'::jsonb and (
        select j.type = 'NoticeDue' from journal j
        where j.mechanism_id = m.id and j.type in ('NoticeScheduled', 'NoticeDue') order by j.sequence desc limit 1
      )
    group by m.id`

  /** Mechanisms with events about which messages may be owed. */
  const messages = (tenant: Tenant, at: Date) => sql`
    select 'message', m.configuration ->> 'name', '', null, m.id || ' ' || coalesce(c.sequence, 0)
    from organizations o join mechanisms m on ${ofTenant(sql, tenant, "m")}
    join mechanism_heads h on h.mechanism_id = m.id
    left join grant_message_cursors c on c.mechanism_id = m.id
    where o.id = ${tenant.organizationId} and o.settings ->> 'grantMessages' <> 'off'
      and m.kind = any(${lateGrantKinds}::text[]) and m.configuration ->> 'auctionType' is distinct from 'dutch'
      and m.teardown_status is distinct from 'completed' and (
        h.sequence > coalesce(c.sequence, 0) or exists (
          select from grant_messages g where g.mechanism_id = m.id and g.retry_at <= ${at}::timestamptz
        )
      )`

  /** Orders of which stocks have yet to be told. */
  const orders = (tenant: Tenant) => sql`
    select 'order', '', count(*)::text, null, count(*)::text from stock_messages t
    where ${ofTenant(sql, tenant, "t")} having count(*) > 0`

  return Effect.fnUntraced(function* (tenant: Tenant, at: Millis) {
    const time = new Date(at)
    const rows = yield* sql<Row>`
      select found.source, found.name, found.detail, found.at, found.mark from (
        ${heads(tenant, time)} union all ${draws(tenant)} union all ${notices(tenant)} union all ${orders(tenant)}
        union all ${messages(tenant, time)} union all ${others(sql, tenant, at)}
      ) found order by found.at, found.mark`
    return workIn(rows, at)
  }, orUnavailable)
}

const workIn = (rows: ReadonlyArray<Row>, at: Millis): DueWork => {
  const found = Map.groupBy(rows, ({ source }) => source)
  const rounds = found.get("draw")?.map(({ detail }) => Number(detail)) ?? []
  const reasons = sources
    .flatMap((source) => found.get(source) ?? [])
    .filter(({ source, detail }) => source !== "draw" || Draw.timeOfRound(Number(detail)) <= at)
    .flatMap((row) => reasonOf(row) ?? [])
  const mark = reasons.map((reason) => reason.mark).join()
  return {
    overdue: reasons.length === 0 ? undefined : { what: reasons[0]!.what, mark },
    hasMilestones: found.has("milestone"),
    hasAlerts: found.has("alert"),
    hasWaitlists: found.has("waitlist"),
    stockIds: found.get("stock")?.map((row) => row.mark) ?? [],
    nextAt: earliest(found.get("next")![0]!.at, rounds, at)
  }
}

/** Returns what has not happened, in words; undefined for what the worker itself does. */
const reasonOf = ({ source, name, detail, mark }: Row): Overdue | undefined => {
  switch (source) {
    case "head":
      return { what: `the ${detail} "${name}" has not acted`, mark }
    case "draw":
      return { what: `the draw "${name}" waits for round ${detail} of the beacon`, mark }
    case "notice":
      return { what: `the waitlist "${name}" has ${detail} members to notify`, mark }
    case "message":
      return { what: `messages about "${name}" have not been sent`, mark }
    case "order":
      return { what: `stocks have not been told of ${detail} orders`, mark }
    default:
      return undefined
  }
}
