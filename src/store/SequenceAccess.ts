/**
 * For whom a sequence is: for everybody; with an audience, for its members; with an access code, for consumers who have
 * shown it once. A sequence that has both asks for both. The members of an audience of type DYNAMIC are those who fit its
 * rules at the moment; they are written down nowhere.
 *
 * Access codes are kept as keyed hashes, so that neither the table nor the time of a comparison tells anything of them.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { createHmac } from "node:crypto"
import type { AudienceRules } from "../domain/AudienceRules.ts"
import type { Tenant } from "../domain/Ids.ts"
import { fits } from "./AudienceRules.ts"
import { notification, type Topic } from "./Invalidations.ts"
import type { Unavailable } from "./Journal.ts"
import { serverSecret } from "./ServerSecrets.ts"
import { orUnavailable } from "./SqlFailure.ts"

/** What processes are told that keep in memory for whom sequences are. */
export const protectionTopic = "protection" satisfies Topic

export class SequenceAccess extends Context.Service<
  SequenceAccess,
  {
    /** The sequences that are not for everybody, at most `limit` of them. */
    protectedIds(limit: number): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** True if the sequence is for the consumer; it is for nobody if the tenant has no such sequence. */
    mayEnter(tenant: Tenant, sequenceId: string, consumerId: string): Effect.Effect<boolean, Unavailable>
    /** Shows an access code. The sequences of the experience that it opens stay open to the consumer; false if it opens none. */
    show(
      tenant: Tenant,
      shown: { readonly experienceId: string; readonly consumerId: string; readonly accessCode: string }
    ): Effect.Effect<boolean, Unavailable>
  }
>()("usher/store/SequenceAccess") {
  static readonly layer = Layer.effect(
    SequenceAccess,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const hashOf = yield* makeAccessCodeHash

      const protectedIds = Effect.fn("SequenceAccess.protectedIds")(function* (limit: number) {
        const rows = yield* sql<{ readonly id: string }>`
          select s.id from sequences s where not s.archived and ${isProtected(sql)} limit ${limit}`
        return rows.map(({ id }) => id)
      }, orUnavailable)

      const mayEnter = Effect.fn("SequenceAccess.mayEnter")(function* (
        { organizationId, mode }: Tenant,
        sequenceId: string,
        consumerId: string
      ) {
        const rows = yield* sql<{
          readonly is_for: boolean
          readonly id: string
          readonly rules: AudienceRules | null
        }>`
          select ${isFor(sql, consumerId)} as is_for, a.id, a.rules
          from sequences s left join audiences a on a.id = s.audience_id
          where s.id = ${sequenceId} and s.organization_id = ${organizationId} and s.mode = ${mode}
            and ${hasPassed(sql, consumerId)}`
        const row = rows[0]
        if (row === undefined || row.is_for || row.rules === null) return row?.is_for ?? false
        return (yield* fitting(sql, consumerId, [{ id: row.id, rules: row.rules }])).length > 0
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
        const opened = yield* sql`
          with opened as (
            select s.id from sequences s
            where s.experience_id = ${experienceId} and s.organization_id = ${organizationId} and s.mode = ${mode}
              and not s.archived and s.access_code_hash = ${hashOf(experienceId, accessCode)}::bytea
          ), passed as (
            insert into sequence_passes (sequence_id, consumer_id, passed_at)
            select id, ${consumerId}::uuid, ${now}::timestamptz from opened
            on conflict do nothing
          )
          select id from opened`
        return opened.length > 0
      }, orUnavailable)

      return { protectedIds, mayEnter, show }
    })
  )
}

/** How an access code of an experience's sequence is kept. */
export const makeAccessCodeHash = Effect.map(
  serverSecret("access_codes"),
  (secret) => (experienceId: string, accessCode: string) =>
    createHmac("sha256", secret)
      .update(JSON.stringify([experienceId, accessCode]))
      .digest()
)

/** Of a sequence `s`: true if it is not for everybody. */
export const isProtected = (sql: SqlClient.SqlClient): Fragment =>
  sql`(s.audience_id is not null or s.access_code_hash is not null)`

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

/** Of a sequence `s`: true if the consumer has shown its access code, or it has none. */
const hasPassed = (sql: SqlClient.SqlClient, consumerId: string): Fragment =>
  sql`(s.access_code_hash is null or exists (
    select from sequence_passes p where p.sequence_id = s.id and p.consumer_id = ${consumerId}
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
      sql`case when not s.archived and ${isProtected(sql)} then 'protected ' else 'open ' end || s.id`
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
