/**
 * The variants of products. Changes that make or end a variant keep its product to themselves.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  type OptionChoice,
  type PlainVariant,
  type Settings,
  type Variant,
  variantsMax
} from "../../domain/catalogue/Variant.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { makeReferences, type Reference, refuseUnknown, type UnknownReferences } from "./CatalogueReferences.ts"
import type { CatalogueArchival } from "./CatalogueRows.ts"
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
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ParentArchived, ReferenceArchived } from "../records/Restoring.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
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
import * as Search from "../records/Search.ts"

/** The product has `variantsMax` variants already. 409 */
export class TooManyVariants extends Schema.TaggedError<TooManyVariants>()("TooManyVariants", {}) {}

/** What a list of variants can be narrowed to. */
export interface VariantFilter {
  readonly productId?: string | undefined
}

/** The list of variants. */
export const shape = {
  name: "variants",
  sorts: {
    createdAt: { expression: "v.created_at", type: "timestamptz" },
    updatedAt: { expression: "v.updated_at", type: "timestamptz" }
  },
  id: { expression: "v.id", type: "uuid" }
} as const satisfies ListShape<"createdAt" | "updatedAt">

export class Variants extends Context.Service<
  Variants,
  {
    create(
      tenant: Tenant,
      by: string,
      productId: string,
      draft: VariantDraft
    ): Effect.Effect<Variant, TooManyVariants | UnknownReferences | RecordNotFound | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<Variant, RecordNotFound | Unavailable>
    /** Those of the ids that name an unarchived variant of the tenant, in no particular order. */
    byIds(tenant: Tenant, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<PlainVariant>, Unavailable>
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: VariantFilter
    ): Effect.Effect<Page<Variant>, PageRefused | Unavailable>
    /**
     * Replaces the settings by what `revise` makes of them, and the options by those that are given, if any; nobody else
     * changes them meanwhile.
     */
    change(
      tenant: Tenant,
      id: string,
      by: string,
      revise: (settings: Settings) => Settings,
      options?: ReadonlyArray<OptionChoice>
    ): Effect.Effect<Variant, UnknownReferences | RecordNotFound | Unavailable>
    /** Archives the variant, if no experience offers it; its product loses it as its default. */
    archive(
      tenant: Tenant,
      id: string,
      by: string
    ): Effect.Effect<CatalogueArchival<Variant>, RecordNotFound | Unavailable>
    /** Takes the variant out of the archive; its product and what it names must not be archived. */
    restore(
      tenant: Tenant,
      id: string,
      by: string
    ): Effect.Effect<Variant, ParentArchived | ReferenceArchived | TooManyVariants | RecordNotFound | Unavailable>
  }
>()("usher/store/catalogue/Variants") {
  static readonly layer = Layer.effect(
    Variants,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan
      const random = yield* SecureRandom.SecureRandom
      const wrongIn = makeWrongIn(makeReferences(sql))
      const refuseTooMany = makeRefuseTooMany(sql)

      const ofTenant = ({ organizationId, mode }: Tenant) =>
        sql`v.organization_id = ${organizationId} and v.mode = ${mode}`

      const unarchived = (tenant: Tenant) => sql`${ofTenant(tenant)} and not v.archived`

      const one = <R>([row]: ReadonlyArray<R>): Effect.Effect<R, RecordNotFound> =>
        row === undefined ? Effect.fail(new RecordNotFound({ record: "Variant" })) : Effect.succeed(row)

      const byId = (id: string) =>
        Effect.map(sql<Row>`select ${withOptions(sql)} from product_variants v where v.id = ${id}`, (rows) =>
          toVariant(rows[0]!)
        )

      const create = Effect.fn("Variants.create")(
        function* (tenant: Tenant, by: string, productId: string, draft: VariantDraft) {
          const products = yield* sql`
            select id from products
            where id = ${productId} and organization_id = ${tenant.organizationId} and mode = ${tenant.mode}
              and not archived
            for update`
          if (products.length === 0) return yield* new RecordNotFound({ record: "Product" })
          yield* refuseUnknown(yield* wrongIn(tenant, draft.settings, draft.options))
          yield* refuseTooMany(productId)
          const [id] = yield* insertVariants(sql, random, tenant, by, productId, [draft])
          return yield* byId(id!)
        },
        sql.withTransaction,
        orUnavailable
      )

      const find = Effect.fn("Variants.find")(function* (tenant: Tenant, id: string) {
        const rows = yield* sql<Row>`
          select ${withOptions(sql)} from product_variants v where v.id = ${id} and ${unarchived(tenant)}`
        return toVariant(yield* one(rows))
      }, orUnavailable)

      const byIds = Effect.fn("Variants.byIds")(function* (tenant: Tenant, ids: ReadonlyArray<string>) {
        const rows = yield* sql<PlainRow>`
          select v.* from product_variants v where v.id = any(${ids}::uuid[]) and ${unarchived(tenant)}`
        return rows.map(toPlainVariant)
      }, orUnavailable)

      const list = Effect.fn("Variants.list")(function* (
        tenant: Tenant,
        query: PageQuery<keyof typeof shape.sorts>,
        { productId }: VariantFilter
      ) {
        const planned = yield* plan(shape, query, { tenant, filter: { productId } })
        const within = productId === undefined ? sql`true` : sql`v.product_id = ${productId}`
        const rows = yield* Search.rows<Row>(sql, planned, {
          fields: withOptions(sql),
          from: sql`product_variants v`,
          where: sql`${ofTenant(tenant)} and ${archivedAsAsked(sql, "v", query)} and ${within}`,
          sought: Search.textSought(sql, { tenant, row: "v", text: "coalesce(v.sku, '')" }, query.search)
        })
        return page(planned, rows, toVariant)
      }, orUnavailable)

      const change = Effect.fn("Variants.change")(
        function* (
          tenant: Tenant,
          id: string,
          by: string,
          revise: (settings: Settings) => Settings,
          options?: ReadonlyArray<OptionChoice>
        ) {
          const row = yield* Effect.flatMap(
            sql<PlainRow>`
              select v.* from product_variants v where v.id = ${id} and ${unarchived(tenant)} for update`,
            one
          )
          const settings = revise(settingsOf(row))
          yield* refuseUnknown(yield* wrongIn(tenant, settings, options ?? []))
          const stamps = { updated_at: new Date(yield* Clock.currentTimeMillis), updated_by: by }
          const columns = { ...columnsOf(sql, settings), ...stamps }
          yield* sql`update product_variants set ${sql.update(columns)} where id = ${id}`
          if (options !== undefined) yield* replaceOptions(sql, id, options)
          return yield* byId(id)
        },
        sql.withTransaction,
        orUnavailable
      )

      const archive = Effect.fn("Variants.archive")(
        function* (tenant: Tenant, id: string, by: string) {
          // The product first, as for whoever archives it or offers it: two who lock in different orders wait for each
          // other for ever.
          const row = yield* Effect.flatMap(
            sql<{ readonly product_id: string }>`
              select v.product_id from products p join product_variants v on v.product_id = p.id
              where v.id = ${id} and ${unarchived(tenant)} for update`,
            one
          )
          const offers = yield* sql<{ readonly count: number }>`
            select count(distinct e.id)::int as count
            from experience_products o join experiences e on e.id = o.experience_id
            where o.product_id = ${row.product_id} and o.product_variant_id = ${id} and not e.archived`
          const users = offers[0]!.count
          if (users > 0) return { _tag: "InUse" as const, users }
          const now = new Date(yield* Clock.currentTimeMillis)
          yield* sql`
            update products set default_variant_id = null, updated_at = ${now}, updated_by = ${by}
            where id = ${row.product_id} and default_variant_id = ${id}`
          yield* sql`
            update product_variants set archived = true, updated_at = ${now}, updated_by = ${by} where id = ${id}`
          return { _tag: "Archived" as const, record: yield* byId(id) }
        },
        sql.withTransaction,
        orUnavailable
      )

      const restore = Effect.fn("Variants.restore")(
        function* (tenant: Tenant, id: string, by: string) {
          // The product first, as in archiving.
          const parents = yield* sql<{ readonly id: string; readonly archived: boolean }>`
            select p.id, p.archived from products p
            where p.id = (select v.product_id from product_variants v where v.id = ${id} and ${ofTenant(tenant)})
            for update`
          const parent = yield* one(parents)
          const rows = yield* sql<Row>`
            select ${withOptions(sql)} from product_variants v where v.id = ${id} for update of v`
          const row = rows[0]!
          if (!row.archived) return toVariant(row)
          if (parent.archived) return yield* new ParentArchived({ record: "Product" })
          yield* refuseTooMany(parent.id)
          const [wrong] = yield* wrongIn(tenant, settingsOf(row), row.options)
          if (wrong !== undefined) return yield* new ReferenceArchived({ record: namedAt(wrong) })
          const now = new Date(yield* Clock.currentTimeMillis)
          yield* sql`
            update product_variants set archived = false, updated_at = ${now}, updated_by = ${by} where id = ${id}`
          return yield* byId(id)
        },
        sql.withTransaction,
        orUnavailable
      )

      return { create, find, byIds, list, change, archive, restore }
    })
  )
}

/** What kind of record a variant names there. */
const namedAt = ({ path }: Reference): string => {
  switch (path.at(-1)) {
    case "optionId":
      return "Variant option"
    case "valueId":
      return "Variant option value"
    default:
      return "Sync source"
  }
}

/** What of a variant names what is not there. */
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

/** Refuses one more variant of the product, which is kept to this transaction. */
const makeRefuseTooMany = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (productId: string) {
    const counted = yield* sql<{ readonly count: number }>`
    select count(*)::int as count from product_variants where product_id = ${productId} and not archived`
    if (counted[0]!.count >= variantsMax) return yield* new TooManyVariants()
  })
