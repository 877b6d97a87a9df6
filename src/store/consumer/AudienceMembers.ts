/**
 * The members of audiences. Changes to one audience run one after another. The members of a DYNAMIC audience are
 * computed from its rules on each request.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { type Audience, audienceMemberSorts } from "../../domain/consumer/Audience.ts"
import type { AudienceRules } from "../../domain/consumer/AudienceRules.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { fits } from "./AudienceRules.ts"
import * as Audiences from "./Audiences.ts"
import * as ConsumerList from "./ConsumerList.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { listShape, makePlan, page, type Page, type PageQuery, PageRefused } from "../records/Pagination.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import { make } from "../records/Records.ts"
import { type Stamp, stampOf } from "../records/Rows.ts"
import type { Statements } from "../records/Statements.ts"
import { tellMembersRemoved } from "../experience/SequenceAccess.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Search from "../records/Search.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** Some of the consumers do not belong to the tenant. Nothing has changed. */
export class UnknownConsumers extends Schema.TaggedError<UnknownConsumers>()("UnknownConsumers", {
  consumerIds: Schema.Array(Schema.String)
}) {}

/** The rules of the audience determine its members. Nothing has changed. */
export class AudienceIsDynamic extends Schema.TaggedError<AudienceIsDynamic>()("AudienceIsDynamic", {}) {}

/** A consumer that belongs to an audience. */
export interface AudienceMember {
  readonly consumerId: string
  readonly email: string | null
  readonly phone: string | null
  readonly fullName: string | null
  /** Null for a member of a DYNAMIC audience. */
  readonly addedAt: Millis | null
}

/** The list of an audience's members, in the order they were added. */
export const shape = listShape(
  "audience members",
  "m",
  audienceMemberSorts,
  { addedAt: "timestamptz", consumerId: "uuid" },
  { id: "m.consumer_id" }
)

/** The list of a DYNAMIC audience's members, sorted by creation. */
const dynamicShape = listShape(
  "dynamic audience members",
  "c",
  ["addedAt"],
  { addedAt: ConsumerList.byAge },
  { second: ConsumerList.byAge }
)

export class AudienceMembers extends Context.Service<
  AudienceMembers,
  {
    list(
      tenant: Tenant,
      audienceId: string,
      query: PageQuery<keyof typeof shape.sorts>
    ): Effect.Effect<Page<AudienceMember>, PageRefused | RecordNotFound | Unavailable>
    /** Adds consumers of the tenant, all or none. Existing members do not change. */
    add(
      tenant: Tenant,
      audienceId: string,
      by: string,
      consumerIds: ReadonlyArray<string>
    ): Effect.Effect<Audience, UnknownConsumers | AudienceIsDynamic | RecordNotFound | Unavailable>
    /** Removes consumers of the tenant, all or none. Every process is notified. */
    remove(
      tenant: Tenant,
      audienceId: string,
      by: string,
      consumerIds: ReadonlyArray<string>
    ): Effect.Effect<Audience, UnknownConsumers | AudienceIsDynamic | RecordNotFound | Unavailable>
  }
>()("usher/store/consumer/AudienceMembers") {
  static readonly layer = Layer.effect(AudienceMembers)(
    Effect.gen(function* () {
      const { sql, statements } = yield* make(Audiences.declaration)
      return { list: yield* makeMemberList(statements), ...makeMemberChanges(sql, statements) }
    })
  )
}

type Sort = keyof typeof shape.sorts
type AudienceStatements = Statements<Audiences.Row, Audience>

const makeMemberList = Effect.fnUntraced(function* (audiences: AudienceStatements) {
  const sql = yield* PgClient.PgClient
  const plan = yield* makePlan

  /** Returns the consumers that match the rules. */
  const fitting = Effect.fnUntraced(function* (
    tenant: Tenant,
    audienceId: string,
    rules: AudienceRules,
    { sortBy, ...query }: PageQuery<Sort>
  ) {
    if (sortBy === "consumerId") {
      const expected = '"addedAt" alone, because the audience is DYNAMIC'
      return yield* new PageRefused({ parameter: "sortBy", expected, received: sortBy })
    }
    const planned = yield* plan(dynamicShape, query, { tenant, filter: { audienceId } })
    const condition = fits(sql, rules)
    const rows = yield* ConsumerList.select<ConsumerRow>(sql, planned, { tenant, search: query.search, condition })
    return page(planned, rows, (row) => toMember({ ...row, consumer_id: row.id, added_at: null }))
  })

  return Effect.fn("AudienceMembers.list")(function* (tenant: Tenant, audienceId: string, query: PageQuery<Sort>) {
    const audience = yield* audiences.find(tenant, audienceId)
    if (audience.rules !== null) return yield* fitting(tenant, audienceId, audience.rules, query)
    const planned = yield* plan(shape, query, { tenant, filter: { audienceId } })
    const sought = ConsumerList.named(sql, tenant, query.search)
    // Consumers are looked up one by one, for the page alone. A join in id order would start at the lowest id.
    const eachConsumer = sql`select * from consumers where id = m.consumer_id offset 0`
    const rows = yield* Search.rows<Row>(sql, planned, {
      fields: sql`m.*, c.email, c.phone, c.full_name`,
      from: sql`audience_members m cross join lateral (${eachConsumer}) c`,
      where: sql`m.audience_id = ${audienceId}`,
      sought: sought && { ...sought, from: sql`audience_members m join consumers c on c.id = m.consumer_id` }
    })
    return page(planned, rows, toMember)
  }, orUnavailable)
})

const makeMemberChanges = (sql: PgClient.PgClient, audiences: AudienceStatements) => {
  /** Locks the audience. Fails if it is DYNAMIC. */
  const lock = Effect.fnUntraced(function* (tenant: Tenant, audienceId: string) {
    const row = yield* audiences.lock(tenant, audienceId)
    return row.rules === null ? row : yield* new AudienceIsDynamic()
  })

  /** Returns the tenant's consumers among those named, archived or not. */
  const consumersOf = (tenant: Tenant, consumerIds: ReadonlyArray<string>) => sql<{ readonly id: string }>`
    select id from consumers where id = any(${consumerIds}::uuid[]) and ${ofTenant(sql, tenant)}`

  /** Returns the audience with its number of members changed by this difference. */
  const recounted = Effect.fnUntraced(function* (row: Audiences.Row, stamp: Stamp, difference: number) {
    if (difference === 0) return Audiences.toAudience(row)
    const columns = { member_count: row.member_count + BigInt(difference), last_refreshed_at: stamp.now }
    return Audiences.toAudience(yield* audiences.update(row.id, stamp, columns))
  })

  const add = Effect.fn("AudienceMembers.add")(
    function* (tenant: Tenant, audienceId: string, by: string, consumerIds: ReadonlyArray<string>) {
      const audience = yield* lock(tenant, audienceId)
      const known = yield* sql<{ readonly id: string }>`${consumersOf(tenant, consumerIds)} and not archived`
      yield* refuseUnknown(consumerIds, known)
      const stamp = yield* stampOf(by)
      const added = yield* sql`
        insert into audience_members (audience_id, consumer_id, added_at)
        select ${audienceId}::uuid, id, ${stamp.now}::timestamptz from unnest(${consumerIds}::uuid[]) as given (id)
        on conflict do nothing returning consumer_id`
      return yield* recounted(audience, stamp, added.length)
    },
    sql.withTransaction,
    orUnavailable
  )

  const remove = Effect.fn("AudienceMembers.remove")(
    function* (tenant: Tenant, audienceId: string, by: string, consumerIds: ReadonlyArray<string>) {
      const audience = yield* lock(tenant, audienceId)
      // Consumers that were archived after they were added can be removed too.
      yield* refuseUnknown(consumerIds, yield* consumersOf(tenant, consumerIds))
      const removed = yield* sql`
        delete from audience_members
        where audience_id = ${audienceId} and consumer_id = any(${consumerIds}::uuid[]) returning consumer_id`
      yield* tellMembersRemoved(sql)
      return yield* recounted(audience, yield* stampOf(by), -removed.length)
    },
    sql.withTransaction,
    orUnavailable
  )

  return { add, remove }
}

const refuseUnknown = (consumerIds: ReadonlyArray<string>, known: ReadonlyArray<{ readonly id: string }>) => {
  const ids = new Set(known.map(({ id }) => id))
  const unknown = consumerIds.filter((id) => !ids.has(id))
  return unknown.length > 0 ? Effect.fail(new UnknownConsumers({ consumerIds: unknown })) : Effect.void
}

interface Row {
  readonly consumer_id: string
  readonly added_at: Date | null
  readonly email: string | null
  readonly phone: string | null
  readonly full_name: string | null
}

interface ConsumerRow extends Pick<Row, "email" | "phone" | "full_name"> {
  readonly id: string
}

const toMember = (row: Row): AudienceMember => ({
  consumerId: row.consumer_id,
  email: row.email,
  phone: row.phone,
  fullName: row.full_name,
  addedAt: row.added_at?.getTime() ?? null
})
