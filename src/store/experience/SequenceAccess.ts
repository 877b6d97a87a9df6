/**
 * For whom a sequence is: for everybody; with an audience, for its members; with an access code, for consumers who have
 * shown it once; and if its experience has an access code, for consumers who have shown that. A sequence that has several
 * of these asks for all of them. With a limit of orders, it is for whoever has fewer in it. The members of an audience of
 * type DYNAMIC are those who fit its rules at the moment; they are written down nowhere.
 *
 * Access codes are kept as keyed hashes, so that neither the table nor the time of a comparison tells anything of them.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { createHmac } from "node:crypto"
import type { AudienceRules } from "../../domain/consumer/AudienceRules.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { fits } from "../consumer/AudienceRules.ts"
import { notification, type Topic } from "../coordination/Invalidations.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { serverSecret } from "../coordination/ServerSecrets.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

/** What processes are told that keep in memory for whom sequences are. */
export const protectionTopic = "protection" satisfies Topic

/** How a consumer stands to a sequence: whoever is admitted for now has orders left, and is asked about again. */
export type Admission = "admitted" | "admitted for now" | "not invited" | "order limit reached"

export class SequenceAccess extends Context.Service<
  SequenceAccess,
  {
    /** The sequences that are not for everybody, or not for ever, at most `limit` of them. */
    protectedIds(limit: number): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Those of the sequences that are not for everybody, or not for ever. */
    protectedAmong(sequenceIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Whether the sequence is for the consumer; nobody is invited if the tenant has no such sequence. */
    admission(tenant: Tenant, sequenceId: string, consumerId: string): Effect.Effect<Admission, Unavailable>
    /**
     * Shows an access code. The experience, and those of its sequences, that have it stay open to the consumer; false if
     * it opens nothing.
     */
    show(
      tenant: Tenant,
      shown: { readonly experienceId: string; readonly consumerId: string; readonly accessCode: string }
    ): Effect.Effect<boolean, Unavailable>
  }
>()("usher/store/experience/SequenceAccess") {
  static readonly layer = Layer.effect(
    SequenceAccess,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const hashOf = yield* makeAccessCodeHash

      const protectedIds = Effect.fn("SequenceAccess.protectedIds")(function* (limit: number) {
        const rows = yield* sql<{ readonly id: string }>`
          select s.id from sequences s
          where not s.archived
            and (s.audience_id is not null or s.access_code_hash is not null or s.order_limit is not null)
          union
          select s.id from experiences e join sequences s on s.experience_id = e.id
          where not e.archived and e.access_code_hash is not null and not s.archived
          limit ${limit}`
        return rows.map(({ id }) => id)
      }, orUnavailable)

      const protectedAmong = Effect.fn("SequenceAccess.protectedAmong")(function* (sequenceIds: ReadonlyArray<string>) {
        if (sequenceIds.length === 0) return []
        const rows = yield* sql<{ readonly id: string }>`
          select s.id from sequences s
          where s.id = any(${sequenceIds}::uuid[]) and not s.archived and ${isGuarded(sql)}`
        return rows.map(({ id }) => id)
      }, orUnavailable)

      const admission = Effect.fn("SequenceAccess.admission")(function* (
        { organizationId, mode }: Tenant,
        sequenceId: string,
        consumerId: string
      ) {
        const rows = yield* sql<{
          readonly is_for: boolean
          readonly id: string
          readonly rules: AudienceRules | null
          readonly orders_left: number | null
        }>`
          select ${isFor(sql, consumerId)} as is_for, a.id, a.rules, s.order_limit - (
            select count(*)::int from orders o
            where s.order_limit is not null and o.sequence_id = s.id and o.consumer_id = ${consumerId}
              and o.status <> 'CANCELLED'
          ) as orders_left
          from sequences s left join audiences a on a.id = s.audience_id
          where s.id = ${sequenceId} and s.organization_id = ${organizationId} and s.mode = ${mode}
            and ${hasPassed(sql, consumerId)}`
        const row = rows[0]
        if (row === undefined) return "not invited"
        const { is_for: isFixed, id, rules, orders_left: ordersLeft } = row
        const isInvited = isFixed || (rules !== null && (yield* fitting(sql, consumerId, [{ id, rules }])).length > 0)
        return isInvited ? admissionWith(ordersLeft) : "not invited"
      }, orUnavailable)

      const show = Effect.fn("SequenceAccess.show")(function* (
        { organizationId, mode }: Tenant,
        {
          experienceId,
          consumerId,
          accessCode
        }: { readonly experienceId: string; readonly consumerId: string; readonly accessCode: string }
      ) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const hash = hashOf(experienceId, accessCode)
        const opened = yield* sql`
          with whole as (
            select e.id from experiences e
            where e.id = ${experienceId} and e.organization_id = ${organizationId} and e.mode = ${mode}
              and not e.archived and e.access_code_hash = ${hash}::bytea
          ), let_in as (
            insert into experience_passes (experience_id, consumer_id, passed_at)
            select id, ${consumerId}::uuid, ${now}::timestamptz from whole
            on conflict do nothing
          ), opened as (
            select s.id from sequences s
            where s.experience_id = ${experienceId} and s.organization_id = ${organizationId} and s.mode = ${mode}
              and not s.archived and s.access_code_hash = ${hash}::bytea
          ), passed as (
            insert into sequence_passes (sequence_id, consumer_id, passed_at)
            select id, ${consumerId}::uuid, ${now}::timestamptz from opened
            on conflict do nothing
          )
          select id from whole union all select id from opened`
        return opened.length > 0
      }, orUnavailable)

      return { protectedIds, protectedAmong, admission, show }
    })
  )
}

/** What the orders that a consumer has left come to; null: there is no limit. */
const admissionWith = (ordersLeft: number | null): Admission => {
  if (ordersLeft === null) return "admitted"
  return ordersLeft > 0 ? "admitted for now" : "order limit reached"
}

/** How an access code of an experience, or of one of its sequences, is kept. */
export const makeAccessCodeHash = Effect.map(
  serverSecret("access_codes"),
  (secret) => (experienceId: string, accessCode: string) =>
    createHmac("sha256", secret)
      .update(JSON.stringify([experienceId, accessCode]))
      .digest()
)

/** Of a sequence `s`: true if it is not for everybody. */
export const isProtected = (sql: SqlClient.SqlClient): Fragment =>
  sql`(s.audience_id is not null or s.access_code_hash is not null or ${isBehindCode(sql)})`

/** Of a sequence `s`: true if its experience has an access code. */
const isBehindCode = (sql: SqlClient.SqlClient): Fragment =>
  sql`exists (select from experiences b where b.id = s.experience_id and b.access_code_hash is not null)`

/** Of an experience `e`: true if it has an access code that the consumer, or nobody in particular, has not shown. */
export const isBarred = (sql: SqlClient.SqlClient, consumerId: string | undefined): Fragment =>
  consumerId === undefined
    ? sql`e.access_code_hash is not null`
    : sql`(e.access_code_hash is not null and not exists (
          select from experience_passes p where p.experience_id = e.id and p.consumer_id = ${consumerId}
        ))`

/** Of a sequence `s`: true if who enters must be looked at. */
const isGuarded = (sql: SqlClient.SqlClient): Fragment => sql`(${isProtected(sql)} or s.order_limit is not null)`

/**
 * Of a sequence `s`: true if it is for the consumer; for nobody in particular, if it is for everybody. Of the audiences of
 * type DYNAMIC the consumer belongs to those that are named.
 */
export const isFor = (
  sql: SqlClient.SqlClient,
  consumerId: string | undefined,
  dynamicAudienceIds: ReadonlyArray<string> = []
): Fragment =>
  consumerId === undefined
    ? sql`not ${isProtected(sql)}`
    : sql`((s.audience_id is null or s.audience_id = any(${dynamicAudienceIds}::uuid[]) or exists (
          select from audience_members m where m.audience_id = s.audience_id and m.consumer_id = ${consumerId}
        )) and ${hasPassed(sql, consumerId)})`

/** Of a sequence `s`: true if the consumer has shown its access code and its experience's, where it has one. */
const hasPassed = (sql: SqlClient.SqlClient, consumerId: string): Fragment =>
  sql`(s.access_code_hash is null or exists (
    select from sequence_passes p where p.sequence_id = s.id and p.consumer_id = ${consumerId}
  )) and (not ${isBehindCode(sql)} or exists (
    select from experience_passes p where p.experience_id = s.experience_id and p.consumer_id = ${consumerId}
  ))`

/** An audience of type DYNAMIC. */
export interface DynamicAudience {
  readonly id: string
  readonly rules: AudienceRules
}

/** The ids of those audiences whose rules the consumer fits. */
export const fitting = (
  sql: SqlClient.SqlClient,
  consumerId: string,
  audiences: ReadonlyArray<DynamicAudience>
): Effect.Effect<ReadonlyArray<string>, SqlError> => {
  const ids = audiences.map(({ id, rules }) => sql`case when ${fits(sql, rules)} then ${id}::uuid end`)
  return Effect.map(
    sql<{ readonly ids: ReadonlyArray<string> }>`
      select array_remove(array[${sql.join(", ", false)(ids)}], null) as ids
      from consumers c where c.id = ${consumerId} and not c.archived`,
    (rows) => rows[0]?.ids ?? []
  )
}

/**
 * Tells every process, when the transaction commits, for whom the sequences `s` that fit the condition are now: their
 * ids, after `protected` or `open`.
 */
export const tellProtection = (sql: SqlClient.SqlClient, condition: Fragment) =>
  sql`
    select ${notification(
      sql,
      protectionTopic,
      sql`case when not s.archived and ${isGuarded(sql)} then 'protected ' else 'open ' end || s.id`
    )}
    from sequences s where ${condition}`

/** Tells every process, when the transaction commits, that these consumers have changed: they may fit an audience's rules no more. */
export const tellConsumersChanged = (sql: SqlClient.SqlClient, consumerIds: ReadonlyArray<string>) =>
  sql`
    select ${notification(sql, protectionTopic, sql`'consumer ' || id`)}
    from unnest(${consumerIds}::uuid[]) as changed (id)`

/** Tells every process, when the transaction commits, that who was a member of an audience may be one no more. */
export const tellMembersRemoved = (sql: SqlClient.SqlClient) =>
  sql`select ${notification(sql, protectionTopic, sql`'removed'`)}`
