/**
 * The products of the catalogue, with their variants and media. A change of one keeps the product to itself.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { MediaUse, Product, Settings } from "../../domain/catalogue/Product.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { makeReferences, refuseUnknown, type UnknownReferences } from "./CatalogueReferences.ts"
import { type CatalogueArchival, newRow } from "./CatalogueRows.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import {
  archivedAsAsked,
  type ListShape,
  makePlan,
  page,
  type Page,
  type PageQuery,
  type PageRefused
} from "../records/Pagination.ts"
import { columnsOf, insertMedia, type Row, settingsOf, toProducts } from "./ProductParts.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ReferenceArchived } from "../records/Restoring.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { insertVariants, type VariantDraft } from "./VariantRows.ts"
import * as Search from "../records/Search.ts"

/** What a product is created from. The first variant becomes its default. */
export interface ProductDraft {
  readonly settings: Settings
  readonly variants: ReadonlyArray<VariantDraft>
  readonly media: ReadonlyArray<MediaUse>
}

/** The list of products. */
export const shape = {
  name: "products",
  sorts: {
    createdAt: { expression: "p.created_at", type: "timestamptz" },
    name: { expression: "p.name", type: "text" },
    updatedAt: { expression: "p.updated_at", type: "timestamptz" }
  },
  id: { expression: "p.id", type: "uuid" }
} as const satisfies ListShape<"createdAt" | "name" | "updatedAt">

export class Products extends Context.Service<
  Products,
  {
    /** Creates the product with its variants and media, all or nothing. */
    create(tenant: Tenant, by: string, draft: ProductDraft): Effect.Effect<Product, UnknownReferences | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<Product, RecordNotFound | Unavailable>
    /** Those of the ids that name an unarchived product of the tenant, in no particular order. */
    byIds(tenant: Tenant, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Product>, Unavailable>
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>
    ): Effect.Effect<Page<Product>, PageRefused | Unavailable>
    /**
     * Replaces the settings by what `revise` makes of them, and the media by those that are given, if any; nobody else
     * changes them meanwhile.
     */
    change(
      tenant: Tenant,
      id: string,
      by: string,
      revise: (settings: Settings) => Settings,
      media?: ReadonlyArray<MediaUse>
    ): Effect.Effect<Product, UnknownReferences | RecordNotFound | Unavailable>
    /** Archives the product and its variants, if no experience offers it. */
    archive(
      tenant: Tenant,
      id: string,
      by: string
    ): Effect.Effect<CatalogueArchival<Product>, RecordNotFound | Unavailable>
    /**
     * Takes the product out of the archive, and none of its variants; what it names must not be archived. A default variant
     * that is archived is its default no more.
     */
    restore(
      tenant: Tenant,
      id: string,
      by: string
    ): Effect.Effect<Product, ReferenceArchived | RecordNotFound | Unavailable>
  }
>()("usher/store/catalogue/Products") {
  static readonly layer = Layer.effect(
    Products,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan
      const random = yield* SecureRandom.SecureRandom
      const references = makeReferences(sql)
      const wrongIn = makeWrongIn(references)
      const toProduct = makeToProduct(sql)

      const ofTenant = ({ organizationId, mode }: Tenant) =>
        sql`p.organization_id = ${organizationId} and p.mode = ${mode}`

      const unarchived = (tenant: Tenant) => sql`${ofTenant(tenant)} and not p.archived`

      /** Keeps the row to this transaction, and out of the hands of those who offer it or change its variants. */
      const locked = (tenant: Tenant, id: string) =>
        Effect.flatMap(
          sql<Row>`select p.* from products p where p.id = ${id} and ${unarchived(tenant)} for update`,
          one
        )

      /** What is wrong with the default variant; a product that is about to be created, undefined, has none yet. */
      const wrongDefault = Effect.fnUntraced(function* (productId: string | undefined, variantId: string | undefined) {
        if (variantId === undefined) return []
        const variants =
          productId === undefined
            ? []
            : yield* sql`
                select id from product_variants
                where id = ${variantId} and product_id = ${productId} and not archived`
        return variants.length > 0 ? [] : [{ path: ["defaultVariantId"], expected: "a variant of this product" }]
      })

      const create = Effect.fn("Products.create")(
        function* (tenant: Tenant, by: string, { settings, variants, media }: ProductDraft) {
          yield* refuseUnknown([
            ...(yield* wrongDefault(undefined, settings.defaultVariantId)),
            ...(yield* wrongIn(tenant, settings, variants, media))
          ])
          const id = yield* random.uuidV7()
          const row = { ...newRow(tenant, id, by, yield* Clock.currentTimeMillis), ...columnsOf(sql, settings) }
          yield* sql`insert into products ${sql.insert(row)}`
          yield* insertMedia(sql, random, id, media)
          const [first = null] = yield* insertVariants(sql, random, tenant, by, id, variants)
          const rows = yield* sql<Row>`update products set default_variant_id = ${first} where id = ${id} returning *`
          return yield* toProduct(rows[0]!)
        },
        sql.withTransaction,
        orUnavailable
      )

      const find = Effect.fn("Products.find")(function* (tenant: Tenant, id: string) {
        const rows = yield* sql<Row>`select p.* from products p where p.id = ${id} and ${unarchived(tenant)}`
        return yield* toProduct(yield* one(rows))
      }, orUnavailable)

      const byIds = Effect.fn("Products.byIds")(function* (tenant: Tenant, ids: ReadonlyArray<string>) {
        const rows = yield* sql<Row>`
          select p.* from products p where p.id = any(${ids}::uuid[]) and ${unarchived(tenant)}`
        return yield* toProducts(sql, rows)
      }, orUnavailable)

      const list = Effect.fn("Products.list")(function* (tenant: Tenant, query: PageQuery<keyof typeof shape.sorts>) {
        const planned = yield* plan(shape, query, { tenant, filter: {} })
        const text = "p.name || E'\\n' || coalesce(p.record ->> 'handle', '')"
        const rows = yield* Search.rows<Row>(sql, planned, {
          fields: sql`p.*`,
          from: sql`products p`,
          where: sql`${ofTenant(tenant)} and ${archivedAsAsked(sql, "p", query)}`,
          sought: Search.textSought(sql, { tenant, row: "p", text }, query.search)
        })
        const products = new Map((yield* toProducts(sql, rows)).map((product) => [product.id, product]))
        return page(planned, rows, ({ id }) => products.get(id)!)
      }, orUnavailable)

      const change = Effect.fn("Products.change")(
        function* (
          tenant: Tenant,
          id: string,
          by: string,
          revise: (settings: Settings) => Settings,
          media?: ReadonlyArray<MediaUse>
        ) {
          const settings = revise(settingsOf(yield* locked(tenant, id)))
          yield* refuseUnknown([
            ...(yield* wrongDefault(id, settings.defaultVariantId)),
            ...(yield* wrongIn(tenant, settings, [], media ?? []))
          ])
          const stamps = { updated_at: new Date(yield* Clock.currentTimeMillis), updated_by: by }
          const columns = { ...columnsOf(sql, settings), ...stamps }
          if (media !== undefined) {
            yield* sql`delete from product_media_assets where product_id = ${id}`
            yield* insertMedia(sql, random, id, media)
          }
          const rows = yield* sql<Row>`update products set ${sql.update(columns)} where id = ${id} returning *`
          return yield* toProduct(rows[0]!)
        },
        sql.withTransaction,
        orUnavailable
      )

      const archive = Effect.fn("Products.archive")(
        function* (tenant: Tenant, id: string, by: string) {
          yield* locked(tenant, id)
          const offers = yield* sql<{ readonly count: number }>`
            select count(distinct e.id)::int as count
            from experience_products o join experiences e on e.id = o.experience_id
            where o.product_id = ${id} and not e.archived`
          const users = offers[0]!.count
          if (users > 0) return { _tag: "InUse" as const, users }
          const now = new Date(yield* Clock.currentTimeMillis)
          const variants = yield* sql<{ readonly id: string }>`
            update product_variants set archived = true, updated_at = ${now}, updated_by = ${by}
            where product_id = ${id} and not archived returning id`
          const rows = yield* sql<Row>`
            update products set archived = true, updated_at = ${now}, updated_by = ${by} where id = ${id} returning *`
          const variantIds = variants.map((variant) => variant.id)
          const [record] = yield* toProducts(sql, rows, variantIds)
          return { _tag: "Archived" as const, record: record! }
        },
        sql.withTransaction,
        orUnavailable
      )

      return { create, find, byIds, list, change, archive, restore: makeRestore(sql, references) }
    })
  )
}

type References = ReturnType<typeof makeReferences>

const one = ([row]: ReadonlyArray<Row>): Effect.Effect<Row, RecordNotFound> =>
  row === undefined ? Effect.fail(new RecordNotFound({ record: "Product" })) : Effect.succeed(row)

/** The product of a row. */
const makeToProduct = (sql: PgClient.PgClient) => (row: Row) =>
  Effect.map(toProducts(sql, [row]), ([product]) => product!)

/** What is wrong with the media and the sync sources; those of the variants stand beside the product's own. */
const makeWrongIn = (references: References) =>
  Effect.fnUntraced(function* (
    tenant: Tenant,
    settings: Settings,
    variants: ReadonlyArray<VariantDraft>,
    media: ReadonlyArray<MediaUse>
  ) {
    const sources = variants.map((variant, index) => ({
      path: ["variants", index, "primarySyncSourceId"],
      id: variant.settings.primarySyncSourceId
    }))
    const assets = media.map(({ mediaAssetId }, index) => ({
      path: ["productMediaAssets", index, "mediaAssetId"],
      id: mediaAssetId
    }))
    const choices = variants.map(({ options }, index) => ({
      path: ["variants", index, "options"],
      choices: options
    }))
    return [
      ...(yield* references.syncSources(tenant, [
        { path: ["primarySyncSourceId"], id: settings.primarySyncSourceId },
        ...sources
      ])),
      ...(yield* references.mediaAssets(tenant, assets)),
      ...(yield* references.options(tenant, choices))
    ]
  })

/** Takes a product out of the archive, unless what it names is archived. */
const makeRestore = (sql: PgClient.PgClient, references: References) =>
  Effect.fn("Products.restore")(
    function* (tenant: Tenant, id: string, by: string) {
      const rows = yield* sql<Row>`
        select p.* from products p
        where p.id = ${id} and p.organization_id = ${tenant.organizationId} and p.mode = ${tenant.mode} for update`
      const row = yield* one(rows)
      if (!row.archived) return yield* makeToProduct(sql)(row)
      const source = [{ path: [], id: settingsOf(row).primarySyncSourceId }]
      if ((yield* references.syncSources(tenant, source)).length > 0) {
        return yield* new ReferenceArchived({ record: "Sync source" })
      }
      const media = yield* sql<{ readonly id: string }>`
      select media_asset_id as id from product_media_assets where product_id = ${id}`
      const assets = media.map((asset) => ({ path: [], id: asset.id }))
      if ((yield* references.mediaAssets(tenant, assets)).length > 0) {
        return yield* new ReferenceArchived({ record: "Media asset" })
      }
      const now = new Date(yield* Clock.currentTimeMillis)
      const restored = yield* sql<Row>`
      update products p set archived = false, updated_at = ${now}, updated_by = ${by}, default_variant_id = (
        select v.id from product_variants v where v.id = p.default_variant_id and not v.archived
      )
      where p.id = ${id} returning *`
      return yield* makeToProduct(sql)(restored[0]!)
    },
    sql.withTransaction,
    orUnavailable
  )
