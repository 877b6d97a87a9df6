/**
 * The variant options, such as size: the properties in which variants differ. `VariantOptionValues.ts` stores their
 * values.
 */
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  type Settings,
  type ValueSettings,
  type VariantOption,
  type VariantOptionWithValues,
  variantOptionSorts
} from "../../domain/catalogue/VariantOption.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { type Declaration, each, type InUse, usedBy } from "../records/Declaration.ts"
import { makeList } from "../records/Lists.ts"
import { listShape } from "../records/Pagination.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import { type Archivable, make, type Readable } from "../records/Records.ts"
import { identityAndStamps, insertRows, newRow, type RecordRow, stampOf } from "../records/Rows.ts"
import { columnsOf, valuesOf } from "./VariantOptionValueRows.ts"

export const shape = listShape("variant options", "o", variantOptionSorts, { createdAt: "timestamptz", name: "text" })

type Sort = keyof typeof shape.sorts

interface Row extends RecordRow {
  readonly name: string
}

const toOption = (row: Row): VariantOption => ({ ...identityAndStamps(row), name: row.name })

const declaration: Declaration<Row, VariantOptionWithValues, Sort, InUse> = {
  service: "VariantOptions",
  record: "Variant option",
  table: "variant_options",
  alias: "o",
  recordsOf: (rows, sql) =>
    Effect.forEach(rows, (row) => Effect.map(valuesOf(sql, row.id), (values) => ({ ...toOption(row), values }))),
  list: { shape, searched: "o.name" },
  blockedBy: (sql, { id }) =>
    usedBy(sql`
      select count(*)::int as count
      from product_variant_options o join product_variants v on v.id = o.product_variant_id
      where o.option_id = ${id} and not v.archived`)
}

/** The variant options. An option with a value that a variant uses is in use. An option is restored with its values. */
export class VariantOptions extends Context.Service<
  VariantOptions,
  Readable<VariantOptionWithValues, Sort, object, VariantOption> &
    Archivable<VariantOptionWithValues, InUse> & {
      /** Creates an option with its first values, in this order. The texts must be different. */
      create(
        tenant: Tenant,
        by: string,
        settings: Settings,
        values: ReadonlyArray<ValueSettings>
      ): Effect.Effect<VariantOptionWithValues, Unavailable>
      change(
        tenant: Tenant,
        id: string,
        by: string,
        changes: Partial<Settings>
      ): Effect.Effect<VariantOptionWithValues, RecordNotFound | Unavailable>
    }
>()("usher/store/catalogue/VariantOptions") {
  static readonly layer = Layer.effect(VariantOptions)(
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const { sql, statements, ...operations } = yield* make(declaration)
      const { insert, updateOf, show } = statements

      const create = Effect.fn("VariantOptions.create")(
        function* (tenant: Tenant, by: string, { name }: Settings, values: ReadonlyArray<ValueSettings>) {
          const stamp = yield* stampOf(by)
          const option = yield* insert(tenant, stamp, () => ({ name, record: sql.json({}) }))
          const rows = yield* Effect.forEach(values, (settings, index) =>
            Effect.map(random.uuidV7(), (id) => ({
              ...newRow(tenant, id, stamp),
              ...columnsOf(sql, settings),
              option_id: option.id,
              sort_order: index
            }))
          )
          yield* insertRows(sql, "variant_option_values", rows)
          return yield* show(option)
        },
        sql.withTransaction,
        orUnavailable
      )

      const change = Effect.fn("VariantOptions.change")(function* (
        tenant: Tenant,
        id: string,
        by: string,
        { name }: Partial<Settings>
      ) {
        const changes = name === undefined ? {} : { name }
        return yield* show(yield* updateOf(tenant, id, yield* stampOf(by), changes))
      }, orUnavailable)

      const list = yield* makeList({ ...declaration, recordsOf: each(toOption) })

      return { ...operations, create, list, change }
    })
  )
}
