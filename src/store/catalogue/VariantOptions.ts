/**
 * The variant options: what the variants of products differ in. Their values are kept by `VariantOptionValues.ts`.
 */
import { PgClient } from "@effect/sql-pg"
import { Array as Arr, Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import type {
  Settings,
  ValueSettings,
  VariantOption,
  VariantOptionWithValues
} from "../../domain/catalogue/VariantOption.ts"
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
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { toRow, valuesOf } from "./VariantOptionValues.ts"
import * as Search from "../records/Search.ts"

/** What archiving found: it is done, or variants still have a value of the option. */
export type OptionArchival =
  | { readonly _tag: "Archived"; readonly record: VariantOptionWithValues }
  | { readonly _tag: "InUse"; readonly variants: number }

/** The list of variant options. */
export const shape = {
  name: "variant options",
  sorts: {
    createdAt: { expression: "o.created_at", type: "timestamptz" },
    name: { expression: "o.name", type: "text" }
  },
  id: { expression: "o.id", type: "uuid" }
} as const satisfies ListShape<"createdAt" | "name">

export class VariantOptions extends Context.Service<
  VariantOptions,
  {
    /** Creates an option with its first values, in their order; their texts are different. */
    create(
      tenant: Tenant,
      by: string,
      settings: Settings,
      values: ReadonlyArray<ValueSettings>
    ): Effect.Effect<VariantOptionWithValues, Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<VariantOptionWithValues, RecordNotFound | Unavailable>
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>
    ): Effect.Effect<Page<VariantOption>, PageRefused | Unavailable>
    change(
      tenant: Tenant,
      id: string,
      by: string,
      changes: Partial<Settings>
    ): Effect.Effect<VariantOptionWithValues, RecordNotFound | Unavailable>
    /** Archives the option, if no variant has one of its values. */
    archive(tenant: Tenant, id: string, by: string): Effect.Effect<OptionArchival, RecordNotFound | Unavailable>
    /** Takes the option out of the archive, with the values that were not archived themselves. */
    restore(
      tenant: Tenant,
      id: string,
      by: string
    ): Effect.Effect<VariantOptionWithValues, RecordNotFound | Unavailable>
  }
>()("usher/store/catalogue/VariantOptions") {
  static readonly layer = Layer.effect(
    VariantOptions,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan
      const random = yield* SecureRandom.SecureRandom

      const ofTenant = (tenant: Tenant) => sql`o.organization_id = ${tenant.organizationId} and o.mode = ${tenant.mode}`

      /** The option of the row, if there is one, with its values. */
      const withValues = Effect.fnUntraced(function* (rows: ReadonlyArray<Row>) {
        const [row] = rows
        if (row === undefined) return yield* notFound
        return { ...toOption(row), values: yield* valuesOf(sql, row.id) }
      })

      const create = Effect.fn("VariantOptions.create")(
        function* (tenant: Tenant, by: string, { name }: Settings, values: ReadonlyArray<ValueSettings>) {
          const optionId = yield* random.uuidV7()
          const now = new Date(yield* Clock.currentTimeMillis)
          const rows = yield* sql<Row>`
            insert into variant_options
              (id, organization_id, mode, name, record, created_at, created_by, updated_at, updated_by)
            values (${optionId}, ${tenant.organizationId}, ${tenant.mode}, ${name}, '{}', ${now}, ${by}, ${now}, ${by})
            returning *`
          const valueRows = yield* Effect.forEach(values, (settings, index) =>
            Effect.map(random.uuidV7(), (id) => toRow(sql, { id, optionId, tenant, by, now }, settings, index))
          )
          if (Arr.isArrayNonEmpty(valueRows)) yield* sql`insert into variant_option_values ${sql.insert(valueRows)}`
          return { ...toOption(rows[0]!), values: yield* valuesOf(sql, optionId) }
        },
        sql.withTransaction,
        orUnavailable
      )

      const find = Effect.fn("VariantOptions.find")(function* (tenant: Tenant, id: string) {
        return yield* withValues(
          yield* sql<Row>`
            select o.* from variant_options o where o.id = ${id} and ${ofTenant(tenant)} and not o.archived`
        )
      }, orUnavailable)

      const list = Effect.fn("VariantOptions.list")(function* (
        tenant: Tenant,
        query: PageQuery<keyof typeof shape.sorts>
      ) {
        const planned = yield* plan(shape, query, { tenant, filter: {} })
        const rows = yield* Search.rows<Row>(sql, planned, {
          fields: sql`o.*`,
          from: sql`variant_options o`,
          where: sql`${ofTenant(tenant)} and ${archivedAsAsked(sql, "o", query)}`,
          sought: Search.textSought(sql, { tenant, row: "o", text: "o.name" }, query.search)
        })
        return page(planned, rows, toOption)
      }, orUnavailable)

      const change = Effect.fn("VariantOptions.change")(function* (
        tenant: Tenant,
        id: string,
        by: string,
        { name }: Partial<Settings>
      ) {
        const now = new Date(yield* Clock.currentTimeMillis)
        return yield* withValues(
          yield* sql<Row>`
            update variant_options o
            set name = coalesce(${name ?? null}, o.name), updated_at = ${now}, updated_by = ${by}
            where o.id = ${id} and ${ofTenant(tenant)} and not o.archived returning *`
        )
      }, orUnavailable)

      const archive = Effect.fn("VariantOptions.archive")(
        function* (tenant: Tenant, id: string, by: string) {
          // Locked first: a variant that is about to get one of its values waits, and then does not find it any more.
          const held = yield* sql`
            select o.id from variant_options o where o.id = ${id} and ${ofTenant(tenant)} and not o.archived
            for update`
          if (held.length === 0) return yield* notFound
          const users = yield* sql<{ readonly count: number }>`
            select count(*)::int as count
            from product_variant_options o join product_variants v on v.id = o.product_variant_id
            where o.option_id = ${id} and not v.archived`
          const variants = users[0]!.count
          if (variants > 0) return { _tag: "InUse" as const, variants }
          const now = new Date(yield* Clock.currentTimeMillis)
          const record = yield* withValues(
            yield* sql<Row>`
              update variant_options set archived = true, updated_at = ${now}, updated_by = ${by}
              where id = ${id} returning *`
          )
          return { _tag: "Archived" as const, record }
        },
        sql.withTransaction,
        orUnavailable
      )

      const restore = Effect.fn("VariantOptions.restore")(function* (tenant: Tenant, id: string, by: string) {
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* sql`
          update variant_options o set archived = false, updated_at = ${now}, updated_by = ${by}
          where o.id = ${id} and ${ofTenant(tenant)} and o.archived`
        return yield* find(tenant, id)
      }, orUnavailable)

      return { create, find, list, change, archive, restore }
    })
  )
}

const notFound = Effect.fail(new RecordNotFound({ record: "Variant option" }))

interface Row {
  readonly id: string
  readonly organization_id: string
  readonly name: string
  readonly created_at: Date
  readonly created_by: string
  readonly updated_at: Date
  readonly updated_by: string
  readonly archived: boolean
}

const toOption = (row: Row): VariantOption => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  createdAt: row.created_at.getTime(),
  createdBy: row.created_by,
  updatedAt: row.updated_at.getTime(),
  updatedBy: row.updated_by,
  archived: row.archived
})
