/**
 * Uploaded pictures with their bytes. A picture never changes. Its id is random: who knows it may see the picture.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  type Picture,
  picturePath,
  picturesBytesMax,
  pictureSorts,
  picturesMax,
  pictureType
} from "../../domain/catalogue/Picture.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { actingAs } from "../organization/TenantEvents.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { type InUse, usedBy } from "../records/Declaration.ts"
import { makeReadPage } from "../records/Lists.ts"
import { listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"

export const shape = listShape("pictures", "p", pictureSorts, { createdAt: "timestamptz" })

/** The tenant has as many pictures, or as many bytes of them, as it may have. */
export class PicturesFull extends Schema.TaggedError<PicturesFull>()("PicturesFull", {}) {}

/** A picture before it is stored. */
export interface NewPicture {
  readonly bytes: Uint8Array
  readonly width: number
  readonly height: number
}

export class Pictures extends Context.Service<
  Pictures,
  {
    create(tenant: Tenant, by: string, picture: NewPicture): Effect.Effect<Picture, PicturesFull | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<Picture, RecordNotFound | Unavailable>
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>
    ): Effect.Effect<Page<Picture>, PageRefused | Unavailable>
    /** Removes the picture with its bytes, unless a record names it. */
    remove(
      tenant: Tenant,
      id: string,
      by: string
    ): Effect.Effect<{ readonly _tag: "Archived"; readonly record: Picture } | InUse, RecordNotFound | Unavailable>
    /** Returns the bytes of a picture of any tenant; undefined if there is none. */
    bytes(id: string): Effect.Effect<Uint8Array | undefined, Unavailable>
  }
>()("usher/store/catalogue/Pictures") {
  static readonly layer = Layer.effect(Pictures)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return { ...makeWriting(sql, yield* SecureRandom.SecureRandom), ...(yield* makeReading) }
    })
  )
}

const makeWriting = (sql: PgClient.PgClient, random: SecureRandom.SecureRandom["Service"]) => {
  const create = Effect.fn("Pictures.create")(
    function* (tenant: Tenant, by: string, { bytes, width, height }: NewPicture) {
      // Uploads of an organization count one after the other.
      yield* sql`select from organizations where id = ${tenant.organizationId} for no key update`
      const [held] = yield* sql<{ readonly count: number; readonly bytes: number }>`
        select count(*)::int as count, coalesce(sum(size), 0)::float8 as bytes from pictures
        where ${ofTenant(sql, tenant)}`
      if (held!.count >= picturesMax || held!.bytes + bytes.length > picturesBytesMax) return yield* new PicturesFull()
      const row: Row = {
        id: yield* random.uuidV4(),
        width,
        height,
        size: bytes.length,
        created_at: new Date(yield* Clock.currentTimeMillis),
        created_by: by
      }
      const { organizationId: organization_id, mode } = tenant
      yield* sql`
        insert into pictures ${sql.insert({ ...row, organization_id, mode, content_type: pictureType, bytes })}`
      return toPicture(row)
    },
    sql.withTransaction,
    orUnavailable
  )

  const remove = Effect.fn("Pictures.remove")(
    function* (tenant: Tenant, id: string, by: string) {
      const [row] = yield* sql<Row>`
        select ${fields(sql)} from pictures p where id = ${id} and ${ofTenant(sql, tenant)} for update`
      if (row === undefined) return yield* notFound
      const inUse = yield* usedBy(usersOf(sql, tenant, picturePath(id)))
      if (inUse !== undefined) return inUse
      yield* sql`select ${actingAs(sql, by)}`
      yield* sql`delete from pictures where id = ${id} and ${ofTenant(sql, tenant)}`
      return { _tag: "Archived" as const, record: toPicture(row) }
    },
    sql.withTransaction,
    orUnavailable
  )

  return { create, remove }
}

/** Counts the records that show the address: media of products, experiences and pages, and the organization's look. */
const usersOf = (sql: PgClient.PgClient, tenant: Tenant, path: string) => sql<{ readonly count: number }>`
  select (
    (select count(*) from media_assets m
      where ${unarchivedOf(sql, tenant, "m")} and position(${path} in m.record::text) > 0
        and exists (select from product_media_assets u where u.media_asset_id = m.id))
    + (select count(*) from experiences
      where ${unarchivedOf(sql, tenant)} and position(${path} in (record -> 'theme')::text) > 0)
    + (select count(*) from experience_pages
      where ${unarchivedOf(sql, tenant)} and position(${path} in creative_document::text) > 0)
    + (select count(*) from organizations
      where id = ${tenant.organizationId} and position(${path} in (settings -> 'theme')::text) > 0)
  )::int as count`

const notFound = new RecordNotFound({ record: "Picture" })

const fields = (sql: PgClient.PgClient) => sql.literal("p.id, p.width, p.height, p.size, p.created_at, p.created_by")

const makeReading = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const readPage = yield* makeReadPage(shape, toPicture)

  const find = Effect.fn("Pictures.find")(function* (tenant: Tenant, id: string) {
    const [row] = yield* sql<Row>`
      select ${fields(sql)} from pictures p where p.id = ${id} and ${ofTenant(sql, tenant, "p")}`
    return row === undefined ? yield* notFound : toPicture(row)
  }, orUnavailable)

  const list = Effect.fn("Pictures.list")(function* (tenant: Tenant, query: PageQuery<keyof typeof shape.sorts>) {
    return yield* readPage(tenant, query, {
      filter: {},
      fields: fields(sql),
      from: sql`pictures p`,
      where: ofTenant(sql, tenant, "p")
    })
  }, orUnavailable)

  const bytes = Effect.fn("Pictures.bytes")(function* (id: string) {
    const [row] = yield* sql<{ readonly bytes: Uint8Array }>`select bytes from pictures where id = ${id}`
    return row?.bytes
  }, orUnavailable)

  return { find, list, bytes }
})

interface Row {
  readonly id: string
  readonly width: number
  readonly height: number
  readonly size: number
  readonly created_at: Date
  readonly created_by: string
}

const toPicture = (row: Row): Picture => ({
  id: row.id,
  url: picturePath(row.id),
  width: row.width,
  height: row.height,
  contentType: pictureType,
  bytes: row.size,
  createdAt: row.created_at.getTime(),
  createdBy: row.created_by
})
