/**
 * What consumers have asked to be told of by email (`domain/message/Alert.ts`), and which emails are due.
 *
 * Nothing is kept of an email but what the next one depends on. A reminder is due shortly before the next opening of its
 * experience, and its row goes with the email. An alert of an auction is due while its consumer is outbid, if it lost the
 * lead after the last one that it was told of.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import { type Alert, type AlertTopic, outbidPauseMinutes, reminderLeadMinutes } from "../../domain/message/Alert.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { heldOpenAt } from "../mechanism/MechanismLifecycle.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ofSameTenant, ofTenant, timeOfTenant, unarchivedOf } from "../records/Tenancy.ts"
import * as Time from "../coordination/Time.ts"

/** Emails that are looked up at once. */
const dueAtOnce = 100

/** How long after an opening its reminders are still sent: a process may have been down. */
const lateMillis = 15 * 60_000

/** Attempts to send a reminder, and the pause between two. */
const attemptsMax = 5
const retryMillis = 60_000

const leadMillis = reminderLeadMinutes * 60_000
const pauseMillis = outbidPauseMinutes * 60_000

/** What an alert is about, and whose it is. */
export interface AlertKey {
  readonly tenant: Tenant
  readonly topic: AlertTopic
  readonly subjectId: string
  readonly consumerId: string
}

/** An email that is due. */
export interface DueAlert extends AlertKey {
  readonly experienceId: string
  readonly organizationName: string
  /** The name of the experience; of an auction its own. */
  readonly name: string
  readonly timeZone: string
  readonly language: string
  readonly email: string
  /** When the experience opens, or when the lead was lost. */
  readonly at: Millis
  readonly attempts: number
}

export type AlertOutcome = "delivered" | "undeliverable" | "failed"

export class Alerts extends Context.Service<
  Alerts,
  {
    find(key: AlertKey): Effect.Effect<Alert, RecordNotFound | Unavailable>
    /** Notes that the consumer wants to be told. False if it has no email address. */
    want(key: AlertKey, language: string): Effect.Effect<boolean, RecordNotFound | Unavailable>
    /** The consumer is told no more. */
    end(key: AlertKey): Effect.Effect<void, Unavailable>
    /** Returns the next emails that are due, of all tenants or of one. */
    due(now: Millis, tenant?: Tenant): Effect.Effect<ReadonlyArray<DueAlert>, Unavailable>
    /** Records what became of an email. */
    record(alert: DueAlert, outcome: AlertOutcome, now: Millis): Effect.Effect<void, Unavailable>
  }
>()("usher/store/message/Alerts") {
  static readonly layer = onDatabase(Alerts, (sql) => ({ ...makeAsking(sql), ...makeSending(sql) }))
}

const makeAsking = (sql: PgClient.PgClient) => {
  /** True if the subject is there. Nobody is outbid in a dutch auction. */
  const subjectOf = ({ tenant, topic, subjectId }: AlertKey) =>
    topic === "REMINDER"
      ? sql`select from experiences where id = ${subjectId} and ${unarchivedOf(sql, tenant)}`
      : sql`select from mechanisms where id = ${subjectId} and ${unarchivedOf(sql, tenant)} and kind = 'auction'`

  const known = Effect.fnUntraced(function* (key: AlertKey) {
    const rows = yield* subjectOf(key)
    if (rows.length === 0) {
      return yield* new RecordNotFound({ record: key.topic === "REMINDER" ? "Experience" : "Distribution" })
    }
  })

  const find = Effect.fn("Alerts.find")(function* (key: AlertKey) {
    yield* known(key)
    const [row] = yield* sql<{ readonly has_email: boolean; readonly created_at: Date | null }>`
      select c.email is not null as has_email, a.created_at from consumers c
      left join alerts a on a.subject_id = ${key.subjectId} and a.consumer_id = c.id
      where c.id = ${key.consumerId} and ${unarchivedOf(sql, key.tenant, "c")}`
    const since = row?.created_at?.getTime() ?? null
    return { isPossible: row?.has_email === true, isWanted: since !== null, since }
  }, orUnavailable)

  const want = Effect.fn("Alerts.want")(function* (key: AlertKey, language: string) {
    yield* known(key)
    const { tenant, topic, subjectId, consumerId } = key
    const now = new Date(yield* Time.now)
    const rows = yield* sql`
      insert into alerts
        (organization_id, mode, topic, subject_id, consumer_id, language, created_at, told_at)
      select organization_id, mode, ${topic}, ${subjectId}, id, ${language}, ${now}, ${now} from consumers
      where id = ${consumerId} and email is not null and ${unarchivedOf(sql, tenant)}
      on conflict (subject_id, consumer_id) do update set language = excluded.language
      returning 1`
    return rows.length > 0
  }, orUnavailable)

  const end = Effect.fn("Alerts.end")(function* ({ tenant, subjectId, consumerId }: AlertKey) {
    yield* sql`
      delete from alerts
      where subject_id = ${subjectId} and consumer_id = ${consumerId} and ${ofTenant(sql, tenant)}`
  }, orUnavailable)

  return { find, want, end }
}

const makeSending = (sql: PgClient.PgClient) => {
  const of = (tenant: Tenant | undefined) => (tenant === undefined ? sql`true` : ofTenant(sql, tenant, "a"))

  /** The alerts whose experience opens within the lead, after the consumer asked. A waitlist opens nothing. */
  const dueReminders = (now: Millis, tenant: Tenant | undefined) => {
    const at = timeOfTenant(sql, "a", now)
    const from = sql`${at} - make_interval(secs => ${lateMillis / 1_000})`
    const until = sql`${at} + make_interval(secs => ${leadMillis / 1_000})`
    const openings = sql`
      from mechanisms m where m.experience_id = e.id and m.kind <> 'waitlist' and not m.archived
        and m.teardown_status is null and ${heldOpenAt(sql)} > ${from}`
    return sql<Row>`
      select a.*, e.id as experience_id, o.name as organization_name, e.name, e.record ->> 'timeZone' as time_zone,
        c.email, opening.at
      from experiences e
      join alerts a on a.subject_id = e.id and a.topic = 'REMINDER'
      join organizations o on o.id = a.organization_id
      join consumers c on c.id = a.consumer_id and ${ofSameTenant(sql, "c", "a")} and not c.archived
        and c.email is not null
      join lateral (
        select min(${heldOpenAt(sql)}) as at ${openings} and ${heldOpenAt(sql)} > a.created_at
      ) opening on opening.at <= ${until}
      where ${of(tenant)} and not e.archived and exists (select ${openings} and ${heldOpenAt(sql)} <= ${until})
        and coalesce(a.tried_at <= ${at} - make_interval(secs => ${retryMillis / 1_000}), true)
      order by opening.at, a.created_at limit ${dueAtOnce}`
  }

  /** The alerts of bidders that have lost the lead since they were told, and that got no email lately. */
  const dueOutbid = (now: Millis, tenant: Tenant | undefined) => sql<Row>`
    select a.*, m.experience_id, o.name as organization_name, m.configuration ->> 'name' as name,
      m.configuration ->> 'timeZone' as time_zone, c.email, p.updated_at as at
    from mechanisms m
    join alerts a on a.subject_id = m.id and a.topic = 'OUTBID'
    join places p on p.mechanism_id = m.id and p.consumer_id = a.consumer_id and p.status = 'OUTBID'
      and p.updated_at > a.told_at
    join organizations o on o.id = a.organization_id
    join consumers c on c.id = a.consumer_id and ${ofSameTenant(sql, "c", "a")} and not c.archived
      and c.email is not null
    where ${of(tenant)} and m.kind = 'auction' and not m.archived and m.teardown_status is distinct from 'completed'
      and coalesce(
        a.tried_at <= ${timeOfTenant(sql, "a", now)} - make_interval(secs => ${pauseMillis / 1_000}), true
      )
    order by p.updated_at limit ${dueAtOnce}`

  const due = Effect.fn("Alerts.due")(function* (now: Millis, tenant?: Tenant) {
    const found = yield* Effect.all([dueReminders(now, tenant), dueOutbid(now, tenant)], { concurrency: 2 })
    return found.flat().map(toDue)
  }, orUnavailable)

  const record = Effect.fn("Alerts.record")(function* (alert: DueAlert, outcome: AlertOutcome, now: Millis) {
    const { subjectId, consumerId, topic, at, attempts } = alert
    const isDone = outcome !== "failed" || attempts + 1 >= attemptsMax
    const isThis = sql`subject_id = ${subjectId} and consumer_id = ${consumerId}`
    if (topic === "REMINDER" && isDone) return void (yield* sql`delete from alerts where ${isThis}`)
    const told = isDone ? { attempts: 0, told_at: new Date(at) } : { attempts: attempts + 1 }
    yield* sql`update alerts set ${sql.update({ ...told, tried_at: new Date(now) })} where ${isThis}`
  }, orUnavailable)

  return { due, record }
}

interface Row {
  readonly organization_id: string
  readonly mode: Mode
  readonly topic: AlertTopic
  readonly subject_id: string
  readonly consumer_id: string
  readonly experience_id: string
  readonly organization_name: string
  readonly name: string
  readonly time_zone: string
  readonly language: string
  readonly email: string
  readonly at: Date
  readonly attempts: number
}

const toDue = (row: Row): DueAlert => ({
  tenant: { organizationId: row.organization_id, mode: row.mode },
  topic: row.topic,
  subjectId: row.subject_id,
  consumerId: row.consumer_id,
  experienceId: row.experience_id,
  organizationName: row.organization_name,
  name: row.name,
  timeZone: row.time_zone,
  language: row.language,
  email: row.email,
  at: row.at.getTime(),
  attempts: row.attempts
})
