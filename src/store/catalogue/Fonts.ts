/** Uploaded fonts with their bytes. A font never changes. Its id is random: who knows it may read the font. */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Font, fontPath, fontsMax, fontSorts, fontType } from "../../domain/catalogue/Font.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { actingAs } from "../organization/TenantEvents.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { type InUse, usedBy } from "../records/Declaration.ts"
import { makeReadPage } from "../records/Lists.ts"
import { listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"

export const shape = listShape("fonts", "f", fontSorts, { createdAt: "timestamptz" })

/** The tenant has as many fonts as it may have. */
export class FontsFull extends Schema.TaggedError<FontsFull>()("FontsFull", {}) {}

export class Fonts extends Context.Service<
  Fonts,
  {
    create(tenant: Tenant, by: string, bytes: Uint8Array): Effect.Effect<Font, FontsFull | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<Font, RecordNotFound | Unavailable>
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>
    ): Effect.Effect<Page<Font>, PageRefused | Unavailable>
    /** Removes the font with its bytes, unless a look names it. */
    remove(
      tenant: Tenant,
      id: string,
      by: string
    ): Effect.Effect<{ readonly _tag: "Archived"; readonly record: Font } | InUse, RecordNotFound | Unavailable>
    /** Returns the bytes of a font of any tenant; undefined if there is none. */
    bytes(id: string): Effect.Effect<Uint8Array | undefined, Unavailable>
  }
>()("usher/store/catalogue/Fonts") {
  static readonly layer = Layer.effect(Fonts)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return { ...makeWriting(sql, yield* SecureRandom.SecureRandom), ...(yield* makeReading) }
    })
  )
}

const makeWriting = (sql: PgClient.PgClient, random: SecureRandom.SecureRandom["Service"]) => {
  const create = Effect.fn("Fonts.create")(
    function* (tenant: Tenant, by: string, bytes: Uint8Array) {
      // Uploads of an organization count one after the other.
      yield* sql`select from organizations where id = ${tenant.organizationId} for no key update`
      const [held] = yield* sql<{ readonly count: number }>`
        select count(*)::int as count from fonts where ${ofTenant(sql, tenant)}`
      if (held!.count >= fontsMax) return yield* new FontsFull()
      const row: Row = {
        id: yield* random.uuidV4(),
        size: bytes.length,
        created_at: new Date(yield* Clock.currentTimeMillis),
        created_by: by
      }
      const { organizationId: organization_id, mode } = tenant
      yield* sql`insert into fonts ${sql.insert({ ...row, organization_id, mode, bytes })}`
      return toFont(row)
    },
    sql.withTransaction,
    orUnavailable
  )

  const remove = Effect.fn("Fonts.remove")(
    function* (tenant: Tenant, id: string, by: string) {
      const [row] = yield* sql<Row>`
        select ${fields(sql)} from fonts f where id = ${id} and ${ofTenant(sql, tenant)} for update`
      if (row === undefined) return yield* notFound
      const inUse = yield* usedBy(usersOf(sql, tenant, fontPath(id)))
      if (inUse !== undefined) return inUse
      yield* sql`select ${actingAs(sql, by)}`
      yield* sql`delete from fonts where id = ${id} and ${ofTenant(sql, tenant)}`
      return { _tag: "Archived" as const, record: toFont(row) }
    },
    sql.withTransaction,
    orUnavailable
  )

  return { create, remove }
}

/** Counts the looks that name the address: of experiences and their pages, and the organization's. */
const usersOf = (sql: PgClient.PgClient, tenant: Tenant, path: string) => sql<{ readonly count: number }>`
  select (
    (select count(*) from experiences
      where ${unarchivedOf(sql, tenant)} and position(${path} in (record -> 'theme')::text) > 0)
    + (select count(*) from experience_pages
      where ${unarchivedOf(sql, tenant)} and position(${path} in creative_document::text) > 0)
    + (select count(*) from organizations
      where id = ${tenant.organizationId} and position(${path} in (settings -> 'theme')::text) > 0)
  )::int as count`

const notFound = new RecordNotFound({ record: "Font" })

const fields = (sql: PgClient.PgClient) => sql.literal("f.id, f.size, f.created_at, f.created_by")

const makeReading = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const readPage = yield* makeReadPage(shape, toFont)

  const find = Effect.fn("Fonts.find")(function* (tenant: Tenant, id: string) {
    const [row] = yield* sql<Row>`
      select ${fields(sql)} from fonts f where f.id = ${id} and ${ofTenant(sql, tenant, "f")}`
    return row === undefined ? yield* notFound : toFont(row)
  }, orUnavailable)

  const list = Effect.fn("Fonts.list")(function* (tenant: Tenant, query: PageQuery<keyof typeof shape.sorts>) {
    return yield* readPage(tenant, query, {
      filter: {},
      fields: fields(sql),
      from: sql`fonts f`,
      where: ofTenant(sql, tenant, "f")
    })
  }, orUnavailable)

  const bytes = Effect.fn("Fonts.bytes")(function* (id: string) {
    const [row] = yield* sql<{ readonly bytes: Uint8Array }>`select bytes from fonts where id = ${id}`
    return row?.bytes
  }, orUnavailable)

  return { find, list, bytes }
})

interface Row {
  readonly id: string
  readonly size: number
  readonly created_at: Date
  readonly created_by: string
}

const toFont = (row: Row): Font => ({
  id: row.id,
  url: fontPath(row.id),
  contentType: fontType,
  bytes: row.size,
  createdAt: row.created_at.getTime(),
  createdBy: row.created_by
})
