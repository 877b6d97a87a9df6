/**
 * The access of consumers to sequences. A sequence can name an audience, have an access code, and belong to an
 * experience with an access code. A consumer must be a member of the audience and must have sent each code once. A
 * sequence with an order limit admits only consumers with fewer orders in it. The members of a DYNAMIC audience are not
 * stored: they are the consumers that match its rules at the time of the request.
 *
 * Access codes are stored as keyed hashes, so neither the table nor the time of a comparison reveals them.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { createHmac } from "node:crypto"
import type { AudienceRules } from "../../domain/consumer/AudienceRules.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { plainCode } from "../../domain/values/TypedCode.ts"
import { fits } from "../consumer/AudienceRules.ts"
import { notification, type Topic } from "../coordination/Invalidations.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { serverSecret } from "../coordination/ServerSecrets.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"
import * as Time from "../coordination/Time.ts"

/** The topic of notifications about access to sequences. Every process keeps that access in memory. */
export const protectionTopic = "protection" satisfies Topic

/**
 * The access of a consumer to a sequence. `admitted for now` means that orders remain. The next entry is checked again.
 */
export type Admission = "admitted" | "admitted for now" | "not invited" | "order limit reached"

export class SequenceAccess extends Context.Service<
  SequenceAccess,
  {
    /** Returns the sequences that are not open to every consumer at any time, at most `limit` of them. */
    protectedIds(limit: number): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Returns those of the sequences that are not open to every consumer at any time. */
    protectedAmong(sequenceIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Returns the consumer's access to the sequence. `not invited` also if the tenant has no such sequence. */
    admission(tenant: Tenant, sequenceId: string, consumerId: string): Effect.Effect<Admission, Unavailable>
    /**
     * Checks an access code. The experience and its sequences with this code then stay open to the consumer. Returns
     * false if the code opens nothing.
     */
    show(
      tenant: Tenant,
      shown: { readonly experienceId: string; readonly consumerId: string; readonly accessCode: string }
    ): Effect.Effect<boolean, Unavailable>
  }
>()("usher/store/experience/SequenceAccess") {
  static readonly layer = Layer.effect(SequenceAccess)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

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

      return {
        protectedIds,
        protectedAmong,
        admission: makeAdmission(sql),
        show: makeShow(sql, yield* makeKeyedHash)
      }
    })
  )
}

const makeAdmission = (sql: PgClient.PgClient) =>
  Effect.fn("SequenceAccess.admission")(function* (tenant: Tenant, sequenceId: string, consumerId: string) {
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
    where s.id = ${sequenceId} and ${ofTenant(sql, tenant, "s")}
      and ${hasPassed(sql, consumerId)}`
    const row = rows[0]
    if (row === undefined) return "not invited"
    const { is_for: isFixed, id, rules, orders_left: ordersLeft } = row
    const isInvited = isFixed || (rules !== null && (yield* fitting(sql, consumerId, [{ id, rules }])).length > 0)
    return isInvited ? admissionWith(ordersLeft) : "not invited"
  }, orUnavailable)

const makeShow = (sql: PgClient.PgClient, keyed: AccessCodeHash) =>
  Effect.fn("SequenceAccess.show")(function* (
    tenant: Tenant,
    {
      experienceId,
      consumerId,
      accessCode
    }: { readonly experienceId: string; readonly consumerId: string; readonly accessCode: string }
  ) {
    const now = new Date(yield* Time.now)
    // A code that was set before spellings were made one may have blanks of its own.
    const spellings = [plainCode(accessCode), accessCode]
    const hashes = sql.join(", ")(spellings.map((code) => sql`${keyed(experienceId, code)}::bytea`))
    const opened = yield* sql`
    with whole as (
      select e.id from experiences e
      where e.id = ${experienceId} and ${unarchivedOf(sql, tenant, "e")} and e.access_code_hash in ${hashes}
    ), let_in as (
      insert into experience_passes (experience_id, consumer_id, passed_at)
      select id, ${consumerId}::uuid, ${now}::timestamptz from whole
      on conflict do nothing
    ), opened as (
      select s.id from sequences s
      where s.experience_id = ${experienceId} and ${unarchivedOf(sql, tenant, "s")}
        and s.access_code_hash in ${hashes}
    ), passed as (
      insert into sequence_passes (sequence_id, consumer_id, passed_at)
      select id, ${consumerId}::uuid, ${now}::timestamptz from opened
      on conflict do nothing
    )
    select id from whole union all select id from opened`
    return opened.length > 0
  }, orUnavailable)

/** Returns the access for a number of remaining orders. Null means that there is no limit. */
const admissionWith = (ordersLeft: number | null): Admission => {
  if (ordersLeft === null) return "admitted"
  return ordersLeft > 0 ? "admitted for now" : "order limit reached"
}

export type AccessCodeHash = (experienceId: string, accessCode: string) => Uint8Array

const makeKeyedHash = Effect.map(
  serverSecret("access_codes"),
  (secret): AccessCodeHash =>
    (experienceId, spelling) =>
      createHmac("sha256", secret)
        .update(JSON.stringify([experienceId, spelling]))
        .digest()
)

/** Creates the function that hashes an access code for storage, in its plain spelling. */
export const makeAccessCodeHash = Effect.map(
  makeKeyedHash,
  (keyed): AccessCodeHash =>
    (experienceId, accessCode) =>
      keyed(experienceId, plainCode(accessCode))
)

/** For a sequence `s`: true if it is closed to some consumers. */
export const isProtected = (sql: SqlClient.SqlClient): Fragment =>
  sql`(s.audience_id is not null or s.access_code_hash is not null or ${isBehindCode(sql)})`

/** For a sequence `s`: true if its experience has an access code. */
const isBehindCode = (sql: SqlClient.SqlClient): Fragment =>
  sql`exists (select from experiences b where b.id = s.experience_id and b.access_code_hash is not null)`

/**
 * For an experience `e`: true if it has an access code that the consumer has not sent. An undefined consumer has sent
 * none.
 */
export const isBarred = (sql: SqlClient.SqlClient, consumerId: string | undefined): Fragment =>
  consumerId === undefined
    ? sql`e.access_code_hash is not null`
    : sql`(e.access_code_hash is not null and not exists (
          select from experience_passes p where p.experience_id = e.id and p.consumer_id = ${consumerId}
        ))`

/** For a sequence `s`: true if each entry must be checked. */
const isGuarded = (sql: SqlClient.SqlClient): Fragment => sql`(${isProtected(sql)} or s.order_limit is not null)`

/**
 * For a sequence `s`: true if the consumer can enter, apart from the order limit. The consumer belongs to the named
 * DYNAMIC audiences. An undefined consumer can enter only sequences that every consumer can enter.
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

/** For a sequence `s`: true if the consumer has sent its access code and its experience's, where these exist. */
const hasPassed = (sql: SqlClient.SqlClient, consumerId: string): Fragment =>
  sql`(s.access_code_hash is null or exists (
    select from sequence_passes p where p.sequence_id = s.id and p.consumer_id = ${consumerId}
  )) and (not ${isBehindCode(sql)} or exists (
    select from experience_passes p where p.experience_id = s.experience_id and p.consumer_id = ${consumerId}
  ))`

export interface DynamicAudience {
  readonly id: string
  readonly rules: AudienceRules
}

/** Returns the ids of the audiences whose rules the consumer matches. */
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
 * Notifies every process, when the transaction commits, of the access to the sequences `s` that meet the condition:
 * `protected` or `open`, and the id.
 */
export const tellProtection = (sql: SqlClient.SqlClient, condition: Fragment) =>
  sql`
    select ${notification(
      sql,
      protectionTopic,
      sql`case when not s.archived and ${isGuarded(sql)} then 'protected ' else 'open ' end || s.id`
    )}
    from sequences s where ${condition}`

/**
 * Notifies every process, when the transaction commits, that these consumers changed and may have left an audience.
 */
export const tellConsumersChanged = (sql: SqlClient.SqlClient, consumerIds: ReadonlyArray<string>) =>
  sql`
    select ${notification(sql, protectionTopic, sql`'consumer ' || id`)}
    from unnest(${consumerIds}::uuid[]) as changed (id)`

/** Notifies every process, when the transaction commits, that an audience may have lost members. */
export const tellMembersRemoved = (sql: SqlClient.SqlClient) =>
  sql`select ${notification(sql, protectionTopic, sql`'removed'`)}`
