/**
 * Who belongs to an audience. Changes to one audience come one after the other. Those who belong to one of type DYNAMIC
 * follow from its rules whenever they are asked for.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import type { Audience } from "../../domain/consumer/Audience.ts"
import type { AudienceRules } from "../../domain/consumer/AudienceRules.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { fits } from "./AudienceRules.ts"
import * as Audiences from "./Audiences.ts"
import * as ConsumerList from "./ConsumerList.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { type ListShape, makePlan, page, type Page, type PageQuery, PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { tellMembersRemoved } from "../experience/SequenceAccess.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Search from "../records/Search.ts"

/** Some of the consumers are not the tenant's. Nothing has changed. */
export class UnknownConsumers extends Schema.TaggedError<UnknownConsumers>()("UnknownConsumers", {
  consumerIds: Schema.Array(Schema.String)
}) {}

/** Members of the audience follow from its rules. Nothing has changed. */
export class AudienceIsDynamic extends Schema.TaggedError<AudienceIsDynamic>()("AudienceIsDynamic", {}) {}

/** A consumer that belongs to an audience. */
export interface AudienceMember {
  readonly consumerId: string
  readonly email: string | null
  readonly phone: string | null
  readonly fullName: string | null
  /** Null where nobody added it. */
  readonly addedAt: Millis | null
}

/** The list of an audience's members, in the order they were added. */
export const shape = {
  name: "audience members",
  sorts: {
    addedAt: { expression: "m.added_at", type: "timestamptz" },
    consumerId: { expression: "m.consumer_id", type: "uuid" }
  },
  id: { expression: "m.consumer_id", type: "uuid" }
} as const satisfies ListShape<"addedAt" | "consumerId">

/** The same of an audience of type DYNAMIC, where nobody is added: in the order they were created. */
const dynamicShape = {
  name: "dynamic audience members",
  sorts: { addedAt: { expression: "c.created_at", type: "timestamptz" } },
  second: ConsumerList.shape.second,
  id: { expression: "c.id", type: "uuid" }
} as const satisfies ListShape<"addedAt">

export class AudienceMembers extends Context.Service<
  AudienceMembers,
  {
    list(
      tenant: Tenant,
      audienceId: string,
      query: PageQuery<keyof typeof shape.sorts>
    ): Effect.Effect<Page<AudienceMember>, PageRefused | RecordNotFound | Unavailable>
    /** Adds consumers of the tenant, all or none; those who belong to it already stay as they are. */
    add(
      tenant: Tenant,
      audienceId: string,
      by: string,
      consumerIds: ReadonlyArray<string>
    ): Effect.Effect<Audience, UnknownConsumers | AudienceIsDynamic | RecordNotFound | Unavailable>
    /** Removes consumers of the tenant, all or none; every process is told. */
    remove(
      tenant: Tenant,
      audienceId: string,
      by: string,
      consumerIds: ReadonlyArray<string>
    ): Effect.Effect<Audience, UnknownConsumers | AudienceIsDynamic | RecordNotFound | Unavailable>
  }
>()("usher/store/consumer/AudienceMembers") {
  static readonly layer = Layer.effect(
    AudienceMembers,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan

      const named = ({ organizationId, mode }: Tenant, id: string) =>
        sql`id = ${id} and organization_id = ${organizationId} and mode = ${mode} and not archived`

      /** Who fits the rules, page by page. */
      const fitting = Effect.fnUntraced(function* (
        tenant: Tenant,
        audienceId: string,
        rules: AudienceRules,
        { sortBy, ...query }: PageQuery<keyof typeof shape.sorts>
      ) {
        if (sortBy === "consumerId") {
          const expected = '"addedAt" alone, because the audience is DYNAMIC'
          return yield* new PageRefused({ parameter: "sortBy", expected, received: sortBy })
        }
        const planned = yield* plan(dynamicShape, query, { tenant, filter: { audienceId } })
        const rows = yield* ConsumerList.select<ConsumerRow>(sql, planned, {
          tenant,
          search: query.search,
          condition: fits(sql, rules)
        })
        return page(planned, rows, (row) => toMember({ ...row, consumer_id: row.id, added_at: null }))
      })

      const list = Effect.fn("AudienceMembers.list")(function* (
        tenant: Tenant,
        audienceId: string,
        query: PageQuery<keyof typeof shape.sorts>
      ) {
        const audiences = yield* sql<Audiences.Row>`select * from audiences where ${named(tenant, audienceId)}`
        const audience = audiences[0]
        if (audience === undefined) return yield* notFound
        if (audience.rules !== null) return yield* fitting(tenant, audienceId, audience.rules, query)
        const planned = yield* plan(shape, query, { tenant, filter: { audienceId } })
        const sought = ConsumerList.named(sql, tenant, query.search)
        // One by one, for the page alone: a join in the order of ids would begin with the least of all ids.
        const eachConsumer = sql`select * from consumers where id = m.consumer_id offset 0`
        const rows = yield* Search.rows<Row>(sql, planned, {
          fields: sql`m.*, c.email, c.phone, c.full_name`,
          from: sql`audience_members m cross join lateral (${eachConsumer}) c`,
          where: sql`m.audience_id = ${audienceId}`,
          sought: sought && { ...sought, from: sql`audience_members m join consumers c on c.id = m.consumer_id` }
        })
        return page(planned, rows, toMember)
      }, orUnavailable)

      /** The tenant's audience, kept to this transaction, if its members are named one by one. */
      const locked = Effect.fnUntraced(function* (tenant: Tenant, audienceId: string) {
        const rows = yield* sql<Audiences.Row>`select * from audiences where ${named(tenant, audienceId)} for update`
        const row = rows[0]
        if (row === undefined) return yield* notFound
        return row.rules === null ? row : yield* new AudienceIsDynamic()
      })

      const refuseUnknown = (consumerIds: ReadonlyArray<string>, known: ReadonlyArray<{ readonly id: string }>) => {
        const ids = new Set(known.map(({ id }) => id))
        const unknown = consumerIds.filter((id) => !ids.has(id))
        return unknown.length > 0 ? Effect.fail(new UnknownConsumers({ consumerIds: unknown })) : Effect.void
      }

      /** The tenant's consumers among those named. */
      const consumersOf = ({ organizationId, mode }: Tenant, consumerIds: ReadonlyArray<string>) => sql`
        from consumers
        where id = any(${consumerIds}::uuid[]) and organization_id = ${organizationId} and mode = ${mode}`

      /** The audience after so many were added, or with a minus removed. */
      const recounted = Effect.fnUntraced(function* (row: Audiences.Row, by: string, now: Date, difference: number) {
        if (difference === 0) return Audiences.toAudience(row)
        const rows = yield* sql<Audiences.Row>`
          update audiences set member_count = member_count + ${difference}::int,
            last_refreshed_at = ${now}, updated_at = ${now}, updated_by = ${by}
          where id = ${row.id} returning *`
        return Audiences.toAudience(rows[0]!)
      })

      const add = Effect.fn("AudienceMembers.add")(
        function* (tenant: Tenant, audienceId: string, by: string, consumerIds: ReadonlyArray<string>) {
          const audience = yield* locked(tenant, audienceId)
          const known = yield* sql<{ readonly id: string }>`
            select id ${consumersOf(tenant, consumerIds)} and not archived`
          yield* refuseUnknown(consumerIds, known)
          const now = new Date(yield* Clock.currentTimeMillis)
          const added = yield* sql`
            insert into audience_members (audience_id, consumer_id, added_at)
            select ${audienceId}::uuid, id, ${now}::timestamptz from unnest(${consumerIds}::uuid[]) as given (id)
            on conflict do nothing returning consumer_id`
          return yield* recounted(audience, by, now, added.length)
        },
        sql.withTransaction,
        orUnavailable
      )

      const remove = Effect.fn("AudienceMembers.remove")(
        function* (tenant: Tenant, audienceId: string, by: string, consumerIds: ReadonlyArray<string>) {
          const audience = yield* locked(tenant, audienceId)
          // Also those who have been archived since they were added.
          yield* refuseUnknown(
            consumerIds,
            yield* sql<{ readonly id: string }>`select id ${consumersOf(tenant, consumerIds)}`
          )
          const now = new Date(yield* Clock.currentTimeMillis)
          const removed = yield* sql`
            delete from audience_members
            where audience_id = ${audienceId} and consumer_id = any(${consumerIds}::uuid[]) returning consumer_id`
          yield* tellMembersRemoved(sql)
          return yield* recounted(audience, by, now, -removed.length)
        },
        sql.withTransaction,
        orUnavailable
      )

      return { list, add, remove }
    })
  )
}

const notFound = Effect.fail(new RecordNotFound({ record: "Audience" }))

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
