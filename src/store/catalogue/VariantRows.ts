/**
 * The rows of variants: writes them alone or with their product, and reads them with their options.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Fragment } from "effect/sql/Statement"
import {
  type OptionChoice,
  type OptionChoices,
  type PlainVariant,
  Settings,
  type Variant
} from "../../domain/catalogue/Variant.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { identityAndStamps, insertRows, newRow, type SettingsRow, stampOf } from "../records/Rows.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"

/** A variant to create. `Choices` are its options as a body names them, or by their ids. */
export interface VariantDraft<Choices = OptionChoices> {
  readonly settings: Settings
  readonly options: Choices
}

export interface PlainRow extends SettingsRow {
  readonly product_id: string
  readonly sku: string | null
  readonly primary_sync_source_id: string | null
}

/** A row with the variant's options. */
export interface Row extends PlainRow {
  readonly options: Variant["options"]
}

/** Converts the settings of a variant. */
export const { columnsOf, settingsOf, shownOf } = makeSettingsColumns(Settings, {
  sku: "sku",
  primarySyncSourceId: "primary_sync_source_id"
})

/** Writes new variants of a product, in their order. Returns their ids. */
export const insertVariants = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  random: SecureRandom.SecureRandom["Service"],
  tenant: Tenant,
  by: string,
  productId: string,
  drafts: ReadonlyArray<VariantDraft<ReadonlyArray<OptionChoice>>>
) {
  const stamp = yield* stampOf(by)
  const ids = yield* Effect.forEach(drafts, () => random.uuidV7())
  const rows = drafts.map(({ settings }, index) => ({
    ...newRow(tenant, ids[index]!, stamp),
    product_id: productId,
    ...columnsOf(sql, settings)
  }))
  yield* insertRows(sql, "product_variants", rows)
  yield* insertRows(
    sql,
    "product_variant_options",
    drafts.flatMap(({ options }, index) => rowsOfOptions(ids[index]!, options))
  )
  return ids
})

export const replaceOptions = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  id: string,
  options: ReadonlyArray<OptionChoice>
) {
  yield* sql`delete from product_variant_options where product_variant_id = ${id}`
  yield* insertRows(sql, "product_variant_options", rowsOfOptions(id, options))
})

/** The columns of variants `v` with their options, the oldest option first. */
export const withOptions = (sql: PgClient.PgClient): Fragment => sql`
  v.*, (
    select coalesce(
      jsonb_agg(
        jsonb_build_object('optionId', o.id, 'optionName', o.name, 'value', x.value, 'valueId', x.id)
        order by o.created_at, o.id
      ),
      '[]'
    )
    from product_variant_options c
    join variant_options o on o.id = c.option_id
    join variant_option_values x on x.id = c.value_id
    where c.product_variant_id = v.id
  ) as options`

/** Returns the variant of a row, without its options. */
export const toPlainVariant = (row: PlainRow): PlainVariant => ({
  ...identityAndStamps(row),
  productId: row.product_id,
  ...shownOf(row)
})

export const toVariant = (row: Row): Variant => ({ ...toPlainVariant(row), options: row.options })

const rowsOfOptions = (id: string, options: ReadonlyArray<OptionChoice>) =>
  options.map(({ optionId, valueId }) => ({ product_variant_id: id, option_id: optionId, value_id: valueId }))
