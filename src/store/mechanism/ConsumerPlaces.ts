/**
 * The places of one consumer in mechanisms of every kind, as last recorded, for staff. Each of the tenant's mechanisms is
 * looked up by key: an index by consumer would slow down every entry.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { consumerPlaceSorts, endStatuses } from "../../domain/mechanism/PlaceFields.ts"
import type { Kind } from "../../domain/mechanism/Mechanism.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { currentPlaces, ofMechanisms } from "../journal/CurrentPlaces.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { makeReadPage } from "../records/Lists.ts"
import { equal, listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"
import { type PlaceColumns, type RecordedPlace, toRecordedPlace } from "./Places.ts"

/** A place with its mechanism. */
export interface PlaceOfConsumer extends RecordedPlace {
  readonly distributionId: string
  readonly type: Kind
  readonly experienceId: string
  readonly sequenceId: string
  readonly name: string
  /** True if the mechanism is archived. */
  readonly archived: boolean
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
  consumerPlaceSorts,
  { enteredAt: "timestamptz" },
  { id: "p.mechanism_id" }
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
  static readonly layer = Layer.effect(ConsumerPlaces)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const readPage = yield* makeReadPage(shape, toPlace)

      const list = Effect.fn("ConsumerPlaces.list")(function* (
        tenant: Tenant,
        consumerId: string,
        { type, experienceId, active, ...query }: PageQuery<keyof typeof shape.sorts> & ConsumerPlaceFilter
      ) {
        const known = yield* sql`select from consumers where id = ${consumerId} and ${unarchivedOf(sql, tenant)}`
        if (known.length === 0) return yield* new RecordNotFound({ record: "Consumer" })
        yield* currentPlaces(sql, ofMechanisms(sql, tenant))
        const filter = { consumerId, type, experienceId, active: active === true ? "true" : undefined }
        const matches = [
          ofTenant(sql, tenant, "m"),
          ...equal(sql, { "m.kind": type, "m.experience_id": experienceId }),
          ...(active === true
            ? [sql`m.teardown_status is distinct from 'completed' and p.status <> all(${endStatuses}::text[])`]
            : [])
        ]
        return yield* readPage(tenant, query, {
          filter,
          fields: sql`
            p.status, p.entered_at, p.updated_at, p.fields, m.id, m.kind, m.experience_id, m.sequence_id, m.archived,
            m.configuration ->> 'name' as name`,
          from: sql`mechanisms m join places p on p.mechanism_id = m.id and p.consumer_id = ${consumerId}`,
          where: sql.and(matches)
        })
      }, orUnavailable)

      return { list }
    })
  )
}

interface Row extends PlaceColumns {
  readonly id: string
  readonly kind: Kind
  readonly experience_id: string
  readonly sequence_id: string
  readonly archived: boolean
  readonly name: string
}

const toPlace = (row: Row): PlaceOfConsumer => ({
  distributionId: row.id,
  type: row.kind,
  experienceId: row.experience_id,
  sequenceId: row.sequence_id,
  name: row.name,
  archived: row.archived,
  ...toRecordedPlace(row)
})
