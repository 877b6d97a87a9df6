/**
 * The products of the catalogue, with their variants and media. A change locks the product.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  type MediaUse,
  type NewPicture,
  type Product,
  type Settings,
  productSorts
} from "../../domain/catalogue/Product.ts"
import type { OptionChoice } from "../../domain/catalogue/Variant.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { type Declaration, type InUse, reference, usedBy } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import { type Archivable, type Changeable, make, type Readable } from "../records/Records.ts"
import { ReferenceArchived } from "../records/Restoring.ts"
import { stampOf, stamped } from "../records/Rows.ts"
import { hold, type Statements } from "../records/Statements.ts"
import { unarchivedOf } from "../records/Tenancy.ts"
import { makeReferences, refuseUnknown, type UnknownReferences } from "./CatalogueReferences.ts"
import { makeNamedOptions } from "./NamedOptions.ts"
import {
  columnsOf,
  insertMedia,
  insertPictures,
  positionAfter,
  type Row,
  settingsOf,
  toProducts
} from "./ProductParts.ts"
import { insertVariants, type VariantDraft } from "./VariantRows.ts"

/** A product to create. Its first variant becomes the default. */
export interface ProductDraft {
  readonly settings: Settings
  readonly variants: ReadonlyArray<VariantDraft>
  readonly media: ReadonlyArray<MediaUse>
  /** Pictures that become media after those. */
  readonly pictures: ReadonlyArray<NewPicture>
}

/** A change of the media of a product: a list that replaces it, and pictures that are added. */
export interface MediaChange {
  readonly media: ReadonlyArray<MediaUse> | undefined
  readonly pictures: ReadonlyArray<NewPicture>
}

export const shape = listShape("products", "p", productSorts, {
  createdAt: "timestamptz",
  name: "text",
  updatedAt: "timestamptz"
})

type Sort = keyof typeof shape.sorts

const declaration: Declaration<Row, Product, Sort, InUse, ReferenceArchived> = {
  service: "Products",
  record: "Product",
  table: "products",
  alias: "p",
  recordsOf: (rows, sql) => toProducts(sql, rows),
  list: { shape, searched: "p.name || E'\\n' || coalesce(p.record ->> 'handle', '')" },
  references: [reference({ table: "sync_sources", record: "Sync source", column: "primary_sync_source_id" })],
  restored: (sql, tenant, row) => restored(sql, tenant, row)
}

/**
 * The products. A change can also replace the media. A product that an experience offers is in use. Its variants are
 * archived it, and a restored product has no default variant if that variant stays archived.
 */
export class Products extends Context.Service<
  Products,
  Readable<Product, Sort> &
    Changeable<Product, Settings, UnknownReferences, MediaChange> &
    Archivable<Product, InUse, ReferenceArchived> & {
      /** Creates the product with its variants and media, all or nothing. */
      create(tenant: Tenant, by: string, draft: ProductDraft): Effect.Effect<Product, UnknownReferences | Unavailable>
      /** The tenant's unarchived products with these ids, in no particular order. */
      byIds(tenant: Tenant, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Product>, Unavailable>
    }
>()("usher/store/catalogue/Products") {
  static readonly layer = Layer.effect(Products)(
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const { sql, statements, change, ...operations } = yield* make(declaration)
      const { insert, update, select, show } = statements
      const wrongIn = makeWrongIn(sql)
      const resolve = makeNamedOptions(sql, random)

      const create = Effect.fn("Products.create")(
        function* (tenant: Tenant, by: string, { settings, media, pictures, ...draft }: ProductDraft) {
          const options = yield* resolve(tenant, by, draft.variants.map(choicesOf))
          const variants = draft.variants.map((variant, index) => ({ ...variant, options: options[index]! }))
          yield* refuseUnknown([
            ...(yield* wrongDefault(sql, undefined, settings.defaultVariantId)),
            ...(yield* wrongIn(tenant, settings, variants, media))
          ])
          const stamp = yield* stampOf(by)
          const { id } = yield* insert(tenant, stamp, () => columnsOf(sql, settings))
          const from = Math.max(0, ...media.map(({ position }, index) => (position ?? index) + 1))
          const added = yield* insertPictures(sql, random, tenant, by, { name: settings.name, pictures, from })
          yield* insertMedia(sql, random, id, [...media, ...added])
          const [first = null] = yield* insertVariants(sql, random, tenant, by, id, variants)
          return yield* show(yield* update(id, stamp, { default_variant_id: first }))
        },
        sql.withTransaction,
        orUnavailable
      )

      const byIds = Effect.fn("Products.byIds")(function* (tenant: Tenant, ids: ReadonlyArray<string>) {
        const rows = yield* select(sql`p.id = any(${ids}::uuid[]) and ${unarchivedOf(sql, tenant, "p")}`)
        return yield* toProducts(sql, rows)
      }, orUnavailable)

      return {
        ...operations,
        create,
        byIds,
        change: (tenant, id, by, revise, { media, pictures } = { media: undefined, pictures: [] }) =>
          change(tenant, id, by, (row) =>
            Effect.gen(function* () {
              const settings = revise(settingsOf(row))
              yield* refuseUnknown([
                ...(yield* wrongDefault(sql, id, settings.defaultVariantId)),
                ...(yield* wrongIn(tenant, settings, [], media ?? []))
              ])
              if (media !== undefined) {
                yield* sql`delete from product_media_assets where product_id = ${id}`
                yield* insertMedia(sql, random, id, media)
              }
              if (pictures.length > 0) {
                const named = { name: settings.name, pictures, from: yield* positionAfter(sql, id) }
                yield* insertMedia(sql, random, id, yield* insertPictures(sql, random, tenant, by, named))
              }
              return columnsOf(sql, settings)
            })
          ),
        archive: makeArchive(sql, statements)
      }
    })
  )
}

const choicesOf = ({ options }: VariantDraft, index: number) => ({
  path: ["variants", index, "options"],
  choices: options
})

/** Archives a product and its variants, unless an experience offers it. Returns it with those variants. */
const makeArchive = (sql: PgClient.PgClient, { lock, update }: Statements<Row, Product>) =>
  Effect.fn("Products.archive")(
    function* (tenant: Tenant, id: string, by: string) {
      yield* lock(tenant, id)
      const blocked = yield* usedBy(sql`
        select count(distinct e.id)::int as count
        from experience_products o join experiences e on e.id = o.experience_id
        where o.product_id = ${id} and not e.archived`)
      if (blocked !== undefined) return blocked
      const stamp = yield* stampOf(by)
      const variants = yield* sql<{ readonly id: string }>`
        update product_variants set ${sql.update({ ...stamped(stamp), archived: true })}
        where product_id = ${id} and not archived returning id`
      const row = yield* update(id, stamp, { archived: true })
      const [record] = yield* toProducts(
        sql,
        [row],
        variants.map((variant) => variant.id)
      )
      return { _tag: "Archived" as const, record: record! }
    },
    sql.withTransaction,
    orUnavailable
  )

/** Returns the problem with the default variant. A product that is not created yet has no id and no variant. */
const wrongDefault = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  productId: string | undefined,
  variantId: string | undefined
) {
  if (variantId === undefined) return []
  const variants =
    productId === undefined
      ? []
      : yield* sql`
          select id from product_variants
          where id = ${variantId} and product_id = ${productId} and not archived`
  return variants.length > 0 ? [] : [{ path: ["defaultVariantId"], expected: "a variant of this product" }]
})

/** Returns the problems with the media and the sync sources of a product and its variants. */
const makeWrongIn = (sql: PgClient.PgClient) => {
  const references = makeReferences(sql)
  return Effect.fnUntraced(function* (
    tenant: Tenant,
    settings: Settings,
    variants: ReadonlyArray<VariantDraft<ReadonlyArray<OptionChoice>>>,
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
}

/** Checks the media of a product before it is restored, and removes an archived default variant. */
const restored = Effect.fnUntraced(function* (sql: PgClient.PgClient, tenant: Tenant, row: Row) {
  const media = yield* sql<{ readonly id: string }>`
    select distinct media_asset_id as id from product_media_assets where product_id = ${row.id}`
  const assets = media.map(({ id }) => id)
  if ((yield* hold(sql, tenant, "media_assets", assets)).length < assets.length) {
    return yield* new ReferenceArchived({ record: "Media asset" })
  }
  const variants = yield* sql`select id from product_variants where id = ${row.default_variant_id} and not archived`
  return { default_variant_id: variants.length > 0 ? row.default_variant_id : null }
})
