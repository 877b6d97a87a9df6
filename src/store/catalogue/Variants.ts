/**
 * The variants of products. Changes that create, archive or restore a variant lock its product first.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  type OptionChoice,
  type OptionChoices,
  type PlainVariant,
  type Settings,
  type Variant,
  variantsMax,
  variantSorts
} from "../../domain/catalogue/Variant.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { type Declaration, each, type InUse, parent, reference, usedBy } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import { type Archivable, type Changeable, make, type Readable } from "../records/Records.ts"
import { type ParentArchived, ReferenceArchived } from "../records/Restoring.ts"
import { stamped } from "../records/Rows.ts"
import { holdParent } from "../records/Statements.ts"
import { unarchivedOf } from "../records/Tenancy.ts"
import { makeReferences, type Reference, refuseUnknown, type UnknownReferences } from "./CatalogueReferences.ts"
import { makeNamedOptions } from "./NamedOptions.ts"
import {
  columnsOf,
  insertVariants,
  type PlainRow,
  replaceOptions,
  type Row,
  settingsOf,
  toPlainVariant,
  toVariant,
  type VariantDraft,
  withOptions
} from "./VariantRows.ts"

/** The variant belongs to a stock, where its units are counted. Nothing was written. 409 `VARIANT_IN_STOCK` */
export class InventoryInStock extends Schema.TaggedError<InventoryInStock>()("InventoryInStock", {
  stockId: Schema.String
}) {}

/** The product already has `variantsMax` variants. 409 */
export class TooManyVariants extends Schema.TaggedError<TooManyVariants>()("TooManyVariants", {}) {}

export interface VariantFilter {
  readonly productId?: string | undefined
}

export const shape = listShape("variants", "v", variantSorts, { createdAt: "timestamptz", updatedAt: "timestamptz" })

type Sort = keyof typeof shape.sorts
type Wrong = ParentArchived | ReferenceArchived | TooManyVariants

const product = parent({ table: "products", record: "Product", column: "product_id", lock: "update" })

const declaration: Declaration<Row, Variant, Sort, InUse, Wrong> = {
  service: "Variants",
  record: "Variant",
  table: "product_variants",
  alias: "v",
  fields: withOptions,
  recordsOf: each(toVariant),
  list: { shape, searched: "coalesce(v.sku, '')", filters: { productId: "v.product_id" } },
  parent: product,
  references: [reference({ table: "sync_sources", record: "Sync source", column: "primary_sync_source_id" })],
  blockedBy: (sql, { id, product_id }) =>
    usedBy(sql`
      select count(distinct e.id)::int as count
      from experience_products o join experiences e on e.id = o.experience_id
      where o.product_id = ${product_id} and o.product_variant_id = ${id} and not e.archived`),
  archiveBelow: (sql, { id, product_id }, stamp) => sql`
    update products set ${sql.update({ ...stamped(stamp), default_variant_id: null })}
    where id = ${product_id} and default_variant_id = ${id}`,
  restored: Effect.fnUntraced(function* (sql, tenant, row) {
    yield* refuseTooMany(sql, row.product_id)
    const [wrong] = yield* makeReferences(sql).options(tenant, [{ path: ["options"], choices: row.options }])
    if (wrong !== undefined) return yield* new ReferenceArchived({ record: namedAt(wrong) })
    return {}
  })
}

/**
 * The variants. A change can also replace the options. A variant that an experience offers is in use. A product
 * whose default variant is archived has no default variant.
 */
export class Variants extends Context.Service<
  Variants,
  Readable<Variant, Sort, VariantFilter> &
    Changeable<Variant, Settings, UnknownReferences | InventoryInStock, OptionChoices> &
    Archivable<Variant, InUse, Wrong> & {
      create(
        tenant: Tenant,
        by: string,
        productId: string,
        draft: VariantDraft
      ): Effect.Effect<Variant, TooManyVariants | UnknownReferences | RecordNotFound | Unavailable>
      /** The tenant's unarchived variants with these ids, in no particular order. */
      byIds(tenant: Tenant, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<PlainVariant>, Unavailable>
    }
>()("usher/store/catalogue/Variants") {
  static readonly layer = Layer.effect(Variants)(
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const { sql, statements, change, ...operations } = yield* make(declaration)
      const wrongIn = makeWrongIn(makeReferences(sql))
      const resolve = makeNamedOptions(sql, random)
      const optionsOf = (tenant: Tenant, by: string, choices: OptionChoices) =>
        Effect.map(resolve(tenant, by, [{ path: ["options"], choices }]), ([options]) => options!)

      const create = Effect.fn("Variants.create")(
        function* (tenant: Tenant, by: string, productId: string, draft: VariantDraft) {
          yield* holdParent(sql, tenant, product, productId)
          const options = yield* optionsOf(tenant, by, draft.options)
          yield* refuseUnknown(yield* wrongIn(tenant, draft.settings, options))
          yield* refuseTooMany(sql, productId)
          const [id] = yield* insertVariants(sql, random, tenant, by, productId, [{ ...draft, options }])
          return toVariant((yield* statements.select(sql`v.id = ${id!}`))[0]!)
        },
        sql.withTransaction,
        orUnavailable
      )

      const byIds = Effect.fn("Variants.byIds")(function* (tenant: Tenant, ids: ReadonlyArray<string>) {
        const rows = yield* sql<PlainRow>`
          select v.* from product_variants v where v.id = any(${ids}::uuid[]) and ${unarchivedOf(sql, tenant, "v")}`
        return rows.map(toPlainVariant)
      }, orUnavailable)

      return {
        ...operations,
        create,
        byIds,
        change: (tenant, id, by, revise, choices) =>
          change(tenant, id, by, (row) =>
            Effect.gen(function* () {
              const before = settingsOf(row)
              const settings = revise(before)
              if (settings.inventoryQuantity !== before.inventoryQuantity) yield* refuseInStock(sql, id)
              const options = choices === undefined ? undefined : yield* optionsOf(tenant, by, choices)
              yield* refuseUnknown(yield* wrongIn(tenant, settings, options ?? []))
              if (options !== undefined) yield* replaceOptions(sql, id, options)
              return columnsOf(sql, settings)
            })
          )
      }
    })
  )
}

/** The kind of record that an option of a variant names. */
const namedAt = ({ path }: Reference): string =>
  path.at(-1) === "optionId" ? "Variant option" : "Variant option value"

/** Returns the identifiers of a variant that name no record. */
const makeWrongIn = (references: ReturnType<typeof makeReferences>) =>
  Effect.fnUntraced(function* (
    tenant: Tenant,
    { primarySyncSourceId }: Settings,
    options: ReadonlyArray<OptionChoice>
  ) {
    const source = [{ path: ["primarySyncSourceId"], id: primarySyncSourceId }]
    const choices = [{ path: ["options"], choices: options }]
    return [...(yield* references.syncSources(tenant, source)), ...(yield* references.options(tenant, choices))]
  })

/** Fails if the variant, which is locked, belongs to a stock. */
const refuseInStock = Effect.fnUntraced(function* (sql: PgClient.PgClient, variantId: string) {
  const [stock] = yield* sql<{ readonly stockId: string }>`
    select s.stock_id as "stockId" from stock_variants s join mechanisms m on m.id = s.stock_id
    where s.variant_id = ${variantId} and not m.archived`
  if (stock !== undefined) return yield* new InventoryInStock(stock)
})

/** Fails if the product, which is locked, cannot have another variant. */
const refuseTooMany = Effect.fnUntraced(function* (sql: PgClient.PgClient, productId: string) {
  const counted = yield* sql<{ readonly count: number }>`
    select count(*)::int as count from product_variants where product_id = ${productId} and not archived`
  if (counted[0]!.count >= variantsMax) return yield* new TooManyVariants()
})
