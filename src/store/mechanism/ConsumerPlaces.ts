/**
 * The places of one consumer in mechanisms of every kind, as last recorded, for staff. Each of the tenant's mechanisms is
 * looked up by key: an index by consumer would slow down every entry.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Kind } from "../../domain/mechanism/Decider.ts"
import { noRisk, type Risk } from "../../domain/risk/Risk.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { listShape, makePlan, page, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import * as Search from "../records/Search.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"
import { endStatuses } from "./Places.ts"

/** A place with its mechanism. */
export interface PlaceOfConsumer {
  readonly distributionId: string
  readonly type: Kind
  readonly experienceId: string
  readonly sequenceId: string
  readonly name: string
  /** True if the mechanism is archived. */
  readonly archived: boolean
  readonly status: string
  readonly enteredAt: Millis
  readonly updatedAt: Millis
  /** The risk of its entry. */
  readonly risk: Risk
  /** The fields of the status, as the API shows them. */
  readonly fields: { readonly [name: string]: unknown }
}

/** The filters of the list. */
export interface ConsumerPlaceFilter {
  readonly type?: Kind | undefined
  readonly experienceId?: string | undefined
  /** True: only places that have not ended, in mechanisms that are not over. */
  readonly active?: boolean | undefined
}

/** The list of a consumer's places, sorted by entry. */
export const shape = listShape(
  "consumer places",
  "p",
  { enteredAt: "timestamptz" },
  { id: { expression: "p.mechanism_id", type: "uuid" } }
)

export class ConsumerPlaces extends Context.Service<
  ConsumerPlaces,
  {
    /** Returns a page of the consumer's places. */
    list(
      tenant: Tenant,
      consumerId: string,
      query: PageQuery<keyof typeof shape.sorts> & ConsumerPlaceFilter
    ): Effect.Effect<Page<PlaceOfConsumer>, PageRefused | RecordNotFound | Unavailable>
  }
>()("usher/store/mechanism/ConsumerPlaces") {
  static readonly layer = Layer.effect(
    ConsumerPlaces,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan

      const list = Effect.fn("ConsumerPlaces.list")(function* (
        tenant: Tenant,
        consumerId: string,
        { type, experienceId, active, ...query }: PageQuery<keyof typeof shape.sorts> & ConsumerPlaceFilter
      ) {
        const known = yield* sql`select from consumers where id = ${consumerId} and ${unarchivedOf(sql, tenant)}`
        if (known.length === 0) return yield* new RecordNotFound({ record: "Consumer" })
        const filter = { consumerId, type, experienceId, active: active === true ? "true" : undefined }
        const planned = yield* plan(shape, query, { tenant, filter })
        const matches = [
          ofTenant(sql, tenant, "m"),
          ...(type === undefined ? [] : [sql`m.kind = ${type}`]),
          ...(experienceId === undefined ? [] : [sql`m.experience_id = ${experienceId}`]),
          ...(active === true
            ? [sql`m.teardown_status is distinct from 'completed' and p.status <> all(${endStatuses}::text[])`]
            : [])
        ]
        const rows = yield* Search.rows<Row>(sql, planned, {
          fields: sql`
            p.status, p.entered_at, p.updated_at, p.fields, m.id, m.kind, m.experience_id, m.sequence_id, m.archived,
            m.configuration ->> 'name' as name`,
          from: sql`mechanisms m join places p on p.mechanism_id = m.id and p.consumer_id = ${consumerId}`,
          where: sql.and(matches),
          sought: undefined
        })
        return page(planned, rows, toPlace)
      }, orUnavailable)

      return { list }
    })
  )
}

interface Row {
  readonly id: string
  readonly kind: Kind
  readonly experience_id: string
  readonly sequence_id: string
  readonly archived: boolean
  readonly name: string
  readonly status: string
  readonly entered_at: Date
  readonly updated_at: Date
  readonly fields: { readonly risk?: Risk; readonly [name: string]: unknown } | null
}

const toPlace = (row: Row): PlaceOfConsumer => {
  const { risk = noRisk, ...fields } = row.fields ?? {}
  return {
    distributionId: row.id,
    type: row.kind,
    experienceId: row.experience_id,
    sequenceId: row.sequence_id,
    name: row.name,
    archived: row.archived,
    status: row.status,
    enteredAt: row.entered_at.getTime(),
    updatedAt: row.updated_at.getTime(),
    risk,
    fields
  }
}
