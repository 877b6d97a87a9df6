/**
 * The values of variant options. A change of an option's values locks the option, so such changes run one after
 * another.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Result, Schema } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { Tenant } from "../../domain/values/Ids.ts"
import {
  type ValueSettings,
  valuesMax,
  type VariantOptionValue,
  variantOptionValueSorts
} from "../../domain/catalogue/VariantOption.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { type Declaration, each, type InUse, usedBy } from "../records/Declaration.ts"
import { listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { type Archival, make } from "../records/Records.ts"
import type { ParentArchived } from "../records/Restoring.ts"
import { stampOf } from "../records/Rows.ts"
import { holdParent, type Statements } from "../records/Statements.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"
import { makeReorder, option, type ValueOrderRefused } from "./ValueOrder.ts"
import { columnsOf, type Row, settingsOf, toValue } from "./VariantOptionValueRows.ts"

/** The option already has the maximum number of values. Nothing has changed. */
export class OptionFull extends Schema.TaggedError<OptionFull>()("OptionFull", {}) {}

/** Another value of the option has this text. Nothing has changed. */
export class ValueExists extends Schema.TaggedError<ValueExists>()("ValueExists", { value: Schema.String }) {}

/** The list of an option's values, sorted by position. */
export const shape = listShape("variant option values", "x", variantOptionValueSorts, { sortOrder: "bigint" })

type Sort = keyof typeof shape.sorts

const declaration: Declaration<Row, VariantOptionValue, Sort, InUse, ParentArchived | OptionFull | ValueExists> = {
  service: "VariantOptionValues",
  record: "Variant option value",
  table: "variant_option_values",
  alias: "x",
  recordsOf: each(toValue),
  list: { shape, searched: "x.value", filters: { optionId: "x.option_id" } },
  parent: option,
  blockedBy: (sql, { id }) =>
    usedBy(sql`
      select count(*)::int as count
      from product_variant_options o join product_variants v on v.id = o.product_variant_id
      where o.value_id = ${id} and not v.archived`),
  restored: Effect.fnUntraced(function* (sql, _, { id, option_id, value }) {
    yield* refuseExisting(sql, option_id, value, id)
    return { sort_order: yield* lastPlace(sql, option_id) }
  })
}

export class VariantOptionValues extends Context.Service<
  VariantOptionValues,
  {
    list(
      tenant: Tenant,
      optionId: string,
      query: PageQuery<Sort>
    ): Effect.Effect<Page<VariantOptionValue>, PageRefused | RecordNotFound | Unavailable>
    /** Adds a value after all others of the option. */
    add(
      tenant: Tenant,
      optionId: string,
      by: string,
      settings: ValueSettings
    ): Effect.Effect<VariantOptionValue, OptionFull | ValueExists | RecordNotFound | Unavailable>
    /** Replaces the settings with the result of `revise`, unless it refuses. The option is locked. */
    change<E>(
      tenant: Tenant,
      optionId: string,
      id: string,
      by: string,
      revise: (settings: ValueSettings) => Result.Result<ValueSettings, E>
    ): Effect.Effect<VariantOptionValue, E | ValueExists | RecordNotFound | Unavailable>
    /** Archives the value, unless a variant uses it. */
    archive(
      tenant: Tenant,
      optionId: string,
      id: string,
      by: string
    ): Effect.Effect<Archival<VariantOptionValue, InUse>, RecordNotFound | Unavailable>
    /** Restores the value as the last one of the option. The option must not be archived. */
    restore(
      tenant: Tenant,
      optionId: string,
      id: string,
      by: string
    ): Effect.Effect<VariantOptionValue, ParentArchived | OptionFull | ValueExists | RecordNotFound | Unavailable>
    /**
     * Sorts the centrally managed values as in `valueOrder`, which names each of them once. The others follow in their
     * previous order. Returns all values of the option. Values that moved get a new change time.
     */
    reorder(
      tenant: Tenant,
      optionId: string,
      by: string,
      valueOrder: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<VariantOptionValue>, ValueOrderRefused | RecordNotFound | Unavailable>
  }
>()("usher/store/catalogue/VariantOptionValues") {
  static readonly layer = Layer.effect(VariantOptionValues)(
    Effect.gen(function* () {
      const { sql, statements, list, archive, restore } = yield* make(declaration)
      return {
        list: (tenant, optionId, query) =>
          Effect.andThen(refuseUnknown(sql, tenant, optionId), list(tenant, query, { optionId })),
        add: makeAdd(sql, statements),
        change: makeChange(sql, statements),
        archive: (tenant, optionId, id, by) =>
          Effect.andThen(refuseForeign(sql, unarchivedOf(sql, tenant, "o"), optionId, id), archive(tenant, id, by)),
        restore: (tenant, optionId, id, by) =>
          Effect.andThen(refuseForeign(sql, ofTenant(sql, tenant, "o"), optionId, id), restore(tenant, id, by)),
        reorder: makeReorder(sql)
      }
    })
  )
}

const makeAdd = (sql: PgClient.PgClient, { insert }: Statements<Row, VariantOptionValue>) =>
  Effect.fn("VariantOptionValues.add")(
    function* (tenant: Tenant, optionId: string, by: string, settings: ValueSettings) {
      yield* holdParent(sql, tenant, option, optionId)
      yield* refuseExisting(sql, optionId, settings.value, null)
      const place = { option_id: optionId, sort_order: yield* lastPlace(sql, optionId) }
      const columns = { ...columnsOf(sql, settings), ...place }
      return toValue(yield* insert(tenant, yield* stampOf(by), () => columns))
    },
    sql.withTransaction,
    orUnavailable
  )

/** Creates `change`. It locks the option and then the value. */
const makeChange = (sql: PgClient.PgClient, { lock, update }: Statements<Row, VariantOptionValue>) => {
  const hold = Effect.fnUntraced(function* (tenant: Tenant, optionId: string, id: string) {
    yield* holdParent(sql, tenant, option, optionId)
    const row = yield* lock(tenant, id)
    return row.option_id === optionId ? row : yield* notFound
  })

  return Effect.fn("VariantOptionValues.change")(
    function* <E>(
      tenant: Tenant,
      optionId: string,
      id: string,
      by: string,
      revise: (settings: ValueSettings) => Result.Result<ValueSettings, E>
    ) {
      const settings = yield* Effect.fromResult(revise(settingsOf(yield* hold(tenant, optionId, id))))
      yield* refuseExisting(sql, optionId, settings.value, id)
      return toValue(yield* update(id, yield* stampOf(by), columnsOf(sql, settings)))
    },
    sql.withTransaction,
    orUnavailable
  )
}

const notFound = Effect.fail(new RecordNotFound({ record: "Variant option value" }))

/** Fails unless the tenant has the unarchived option. */
const refuseUnknown = Effect.fnUntraced(function* (sql: PgClient.PgClient, tenant: Tenant, optionId: string) {
  const options = yield* sql`select id from variant_options where id = ${optionId} and ${unarchivedOf(sql, tenant)}`
  if (options.length === 0) return yield* new RecordNotFound({ record: "Variant option" })
}, orUnavailable)

/** Fails unless the option `o` meets the condition and has the value, archived or not. */
const refuseForeign = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  fits: Fragment,
  optionId: string,
  id: string
) {
  const options = yield* sql<{ readonly value_id: string | null }>`
    select x.id as value_id from variant_options o
    left join variant_option_values x on x.option_id = o.id and x.id = ${id}
    where o.id = ${optionId} and ${fits}`
  if (options[0] === undefined) return yield* new RecordNotFound({ record: "Variant option" })
  if (options[0].value_id === null) return yield* notFound
}, orUnavailable)

/** Refuses a text that another value of the option has. */
const refuseExisting = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  optionId: string,
  value: string,
  id: string | null
) {
  const others = yield* sql`
    select id from variant_option_values
    where option_id = ${optionId} and value = ${value} and not archived and id is distinct from ${id}::uuid`
  if (others.length > 0) return yield* new ValueExists({ value })
})

/** Returns the position after all other values of the option, if the option is not full. */
const lastPlace = Effect.fnUntraced(function* (sql: PgClient.PgClient, optionId: string) {
  const counted = yield* sql<{ readonly count: number; readonly next: number }>`
    select count(*)::int as count, coalesce(max(sort_order) + 1, 0) as next
    from variant_option_values where option_id = ${optionId} and not archived`
  const { count, next } = counted[0]!
  return count >= valuesMax ? yield* new OptionFull() : next
})
