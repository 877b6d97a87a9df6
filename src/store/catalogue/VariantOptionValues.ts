/**
 * The values of variant options. Whoever changes the values of an option holds its row, so that changes to one option
 * come one after the other and each sees the values as they are.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import {
  orderProblems,
  type ValueSettings,
  valuesMax,
  type VariantOptionValue
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
import { ParentArchived } from "../records/Restoring.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Search from "../records/Search.ts"

/** The option has as many values as it can have. Nothing has changed. */
export class OptionFull extends Schema.TaggedError<OptionFull>()("OptionFull", {}) {}

/** The option has a value with this text. Nothing has changed. */
export class ValueExists extends Schema.TaggedError<ValueExists>()("ValueExists", { value: Schema.String }) {}

/** What was sent is not an order of the option's values. Nothing has changed. */
export class ValueOrderRefused extends Schema.TaggedError<ValueOrderRefused>()("ValueOrderRefused", {
  problems: Schema.Array(
    Schema.Struct({
      problem: Schema.Literals(["duplicate", "unknown", "omitted"]),
      id: Schema.String,
      index: Schema.optionalKey(Schema.Int)
    })
  )
}) {}

/** What archiving found: it is done, or variants still have the value. */
export type ValueArchival =
  | { readonly _tag: "Archived"; readonly record: VariantOptionValue }
  | { readonly _tag: "InUse"; readonly variants: number }

/** The list of an option's values, in their order. */
export const shape = {
  name: "variant option values",
  sorts: { sortOrder: { expression: "x.sort_order", type: "bigint" } },
  id: { expression: "x.id", type: "uuid" }
} as const satisfies ListShape<"sortOrder">

export class VariantOptionValues extends Context.Service<
  VariantOptionValues,
  {
    list(
      tenant: Tenant,
      optionId: string,
      query: PageQuery<keyof typeof shape.sorts>
    ): Effect.Effect<Page<VariantOptionValue>, PageRefused | RecordNotFound | Unavailable>
    /** Adds a value after all others of the option. */
    add(
      tenant: Tenant,
      optionId: string,
      by: string,
      settings: ValueSettings
    ): Effect.Effect<VariantOptionValue, OptionFull | ValueExists | RecordNotFound | Unavailable>
    /** Replaces the settings by what `revise` makes of them, unless it refuses; nobody else changes them meanwhile. */
    change<E>(
      tenant: Tenant,
      optionId: string,
      id: string,
      by: string,
      revise: (settings: ValueSettings) => Result.Result<ValueSettings, E>
    ): Effect.Effect<VariantOptionValue, E | ValueExists | RecordNotFound | Unavailable>
    /** Archives the value, if no variant has it. */
    archive(
      tenant: Tenant,
      optionId: string,
      id: string,
      by: string
    ): Effect.Effect<ValueArchival, RecordNotFound | Unavailable>
    /** Takes the value out of the archive, after all others of the option, which must not be archived. */
    restore(
      tenant: Tenant,
      optionId: string,
      id: string,
      by: string
    ): Effect.Effect<VariantOptionValue, ParentArchived | OptionFull | ValueExists | RecordNotFound | Unavailable>
    /**
     * Puts the centrally managed values into the order of `valueOrder`, which names each of them once; the others keep
     * their order after them. Answers all values of the option; those that moved are stamped.
     */
    reorder(
      tenant: Tenant,
      optionId: string,
      by: string,
      valueOrder: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<VariantOptionValue>, ValueOrderRefused | RecordNotFound | Unavailable>
  }
>()("usher/store/catalogue/VariantOptionValues") {
  static readonly layer = Layer.effect(
    VariantOptionValues,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan
      const random = yield* SecureRandom.SecureRandom
      const refuseExisting = makeRefuseExisting(sql)
      const lastPlace = makeLastPlace(sql)

      const ofTenant = ({ organizationId, mode }: Tenant) => sql`organization_id = ${organizationId} and mode = ${mode}`

      /** Keeps the tenant's option to this transaction. */
      const holdOption = (tenant: Tenant, optionId: string) =>
        sql`
          select id from variant_options where id = ${optionId} and ${ofTenant(tenant)} and not archived
          for update`.pipe(Effect.flatMap(({ length }) => (length === 0 ? optionNotFound : Effect.void)))

      /** The value, kept to this transaction with its option. */
      const hold = Effect.fnUntraced(function* (tenant: Tenant, optionId: string, id: string) {
        yield* holdOption(tenant, optionId)
        const rows = yield* sql<Row>`
          select * from variant_option_values
          where id = ${id} and option_id = ${optionId} and not archived for update`
        return rows[0] ?? (yield* new RecordNotFound({ record: "Variant option value" }))
      })

      const list = Effect.fn("VariantOptionValues.list")(function* (
        tenant: Tenant,
        optionId: string,
        query: PageQuery<keyof typeof shape.sorts>
      ) {
        const options = yield* sql`
          select id from variant_options where id = ${optionId} and ${ofTenant(tenant)} and not archived`
        if (options.length === 0) return yield* optionNotFound
        const planned = yield* plan(shape, query, { tenant, filter: { optionId } })
        const rows = yield* Search.rows<Row>(sql, planned, {
          fields: sql`x.*`,
          from: sql`variant_option_values x`,
          where: sql`x.option_id = ${optionId} and ${archivedAsAsked(sql, "x", query)}`
        })
        return page(planned, rows, toValue)
      }, orUnavailable)

      const add = Effect.fn("VariantOptionValues.add")(
        function* (tenant: Tenant, optionId: string, by: string, settings: ValueSettings) {
          yield* holdOption(tenant, optionId)
          yield* refuseExisting(optionId, settings.value, null)
          const next = yield* lastPlace(optionId)
          const id = yield* random.uuidV7()
          const now = new Date(yield* Clock.currentTimeMillis)
          const row = toRow(sql, { id, optionId, tenant, by, now }, settings, next)
          const rows = yield* sql<Row>`insert into variant_option_values ${sql.insert(row)} returning *`
          return toValue(rows[0]!)
        },
        sql.withTransaction,
        orUnavailable
      )

      const change = Effect.fn("VariantOptionValues.change")(
        function* <E>(
          tenant: Tenant,
          optionId: string,
          id: string,
          by: string,
          revise: (settings: ValueSettings) => Result.Result<ValueSettings, E>
        ) {
          const row = yield* hold(tenant, optionId, id)
          const { value, isCentrallyManaged, ...record } = yield* Effect.fromResult(revise(settingsOf(row)))
          yield* refuseExisting(optionId, value, id)
          const now = new Date(yield* Clock.currentTimeMillis)
          const rows = yield* sql<Row>`
            update variant_option_values
            set value = ${value}, is_centrally_managed = ${isCentrallyManaged}, record = ${sql.json(record)},
              updated_at = ${now}, updated_by = ${by}
            where id = ${id} returning *`
          return toValue(rows[0]!)
        },
        sql.withTransaction,
        orUnavailable
      )

      const archive = Effect.fn("VariantOptionValues.archive")(
        function* (tenant: Tenant, optionId: string, id: string, by: string) {
          yield* hold(tenant, optionId, id)
          const users = yield* sql<{ readonly count: number }>`
            select count(*)::int as count
            from product_variant_options o join product_variants v on v.id = o.product_variant_id
            where o.value_id = ${id} and not v.archived`
          const variants = users[0]!.count
          if (variants > 0) return { _tag: "InUse" as const, variants }
          const now = new Date(yield* Clock.currentTimeMillis)
          const rows = yield* sql<Row>`
            update variant_option_values set archived = true, updated_at = ${now}, updated_by = ${by}
            where id = ${id} returning *`
          return { _tag: "Archived" as const, record: toValue(rows[0]!) }
        },
        sql.withTransaction,
        orUnavailable
      )

      const restore = Effect.fn("VariantOptionValues.restore")(
        function* (tenant: Tenant, optionId: string, id: string, by: string) {
          const options = yield* sql<{ readonly archived: boolean }>`
            select archived from variant_options where id = ${optionId} and ${ofTenant(tenant)} for update`
          const option = options[0]
          if (option === undefined) return yield* optionNotFound
          const rows = yield* sql<Row>`
            select * from variant_option_values where id = ${id} and option_id = ${optionId} for update`
          const row = rows[0]
          if (row === undefined) return yield* new RecordNotFound({ record: "Variant option value" })
          if (!row.archived) return toValue(row)
          if (option.archived) return yield* new ParentArchived({ record: "Variant option" })
          yield* refuseExisting(optionId, row.value, id)
          const next = yield* lastPlace(optionId)
          const now = new Date(yield* Clock.currentTimeMillis)
          const restored = yield* sql<Row>`
            update variant_option_values
            set archived = false, sort_order = ${next}, updated_at = ${now}, updated_by = ${by}
            where id = ${id} returning *`
          return toValue(restored[0]!)
        },
        sql.withTransaction,
        orUnavailable
      )

      const reorder = Effect.fn("VariantOptionValues.reorder")(
        function* (tenant: Tenant, optionId: string, by: string, valueOrder: ReadonlyArray<string>) {
          yield* holdOption(tenant, optionId)
          const values = yield* valuesOf(sql, optionId)
          const managed = values.filter(({ isCentrallyManaged }) => isCentrallyManaged).map(({ id }) => id)
          const problems = orderProblems(managed, valueOrder)
          if (problems.length > 0) return yield* new ValueOrderRefused({ problems })
          const others = values.filter(({ isCentrallyManaged }) => !isCentrallyManaged).map(({ id }) => id)
          const now = new Date(yield* Clock.currentTimeMillis)
          yield* sql`
            update variant_option_values v
            set sort_order = given.position - 1, updated_at = ${now}, updated_by = ${by}
            from unnest(${[...valueOrder, ...others]}::uuid[]) with ordinality as given (id, position)
            where v.id = given.id and v.sort_order <> given.position - 1`
          return yield* valuesOf(sql, optionId)
        },
        sql.withTransaction,
        orUnavailable
      )

      return { list, add, change, archive, restore, reorder }
    })
  )
}

const optionNotFound = Effect.fail(new RecordNotFound({ record: "Variant option" }))

/** The values of an option that are not archived, in order. */
export const valuesOf = (sql: PgClient.PgClient, optionId: string) =>
  sql<Row>`
    select * from variant_option_values where option_id = ${optionId} and not archived
    order by sort_order, id`.pipe(Effect.map((rows) => rows.map(toValue)))

/** What a new value belongs to, and who makes it. */
interface Origin {
  readonly id: string
  readonly optionId: string
  readonly tenant: Tenant
  readonly by: string
  readonly now: Date
}

/** The row of a new value. */
export const toRow = (
  sql: PgClient.PgClient,
  { id, optionId, tenant, by, now }: Origin,
  { value, isCentrallyManaged, ...record }: ValueSettings,
  sortOrder: number
) => ({
  id,
  organization_id: tenant.organizationId,
  mode: tenant.mode,
  option_id: optionId,
  value,
  is_centrally_managed: isCentrallyManaged,
  sort_order: sortOrder,
  record: sql.json(record),
  created_at: now,
  created_by: by,
  updated_at: now,
  updated_by: by
})

interface Row {
  readonly id: string
  readonly organization_id: string
  readonly option_id: string
  readonly value: string
  readonly is_centrally_managed: boolean
  readonly sort_order: number
  readonly record: { readonly displayValue?: string; readonly colorHex?: string }
  readonly created_at: Date
  readonly created_by: string
  readonly updated_at: Date
  readonly updated_by: string
  readonly archived: boolean
}

const settingsOf = ({ value, is_centrally_managed, record }: Row): ValueSettings => ({
  ...record,
  value,
  isCentrallyManaged: is_centrally_managed
})

const toValue = (row: Row): VariantOptionValue => ({
  id: row.id,
  optionId: row.option_id,
  organizationId: row.organization_id,
  value: row.value,
  displayValue: row.record.displayValue ?? null,
  colorHex: row.record.colorHex ?? null,
  isCentrallyManaged: row.is_centrally_managed,
  sortOrder: row.sort_order,
  createdAt: row.created_at.getTime(),
  createdBy: row.created_by,
  updatedAt: row.updated_at.getTime(),
  updatedBy: row.updated_by,
  archived: row.archived
})

/** Refuses a text that another value of the option has. */
const makeRefuseExisting = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (optionId: string, value: string, id: string | null) {
    const others = yield* sql`
    select id from variant_option_values
    where option_id = ${optionId} and value = ${value} and not archived and id is distinct from ${id}::uuid`
    if (others.length > 0) return yield* new ValueExists({ value })
  })

/** The place after all others of the option, if it has room for one more. */
const makeLastPlace = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (optionId: string) {
    const counted = yield* sql<{ readonly count: number; readonly next: number }>`
    select count(*)::int as count, coalesce(max(sort_order) + 1, 0) as next
    from variant_option_values where option_id = ${optionId} and not archived`
    const { count, next } = counted[0]!
    return count >= valuesMax ? yield* new OptionFull() : next
  })
