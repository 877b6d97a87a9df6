/**
 * The variants as rows: how they are written, alone or with their product, and how they are read with their options.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Fragment } from "effect/sql/Statement"
import { type OptionChoice, type PlainVariant, Settings, type Variant } from "../../domain/catalogue/Variant.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { identityAndStamps, insertRows, newRow, type SettingsRow, stampOf } from "../records/Rows.ts"

/** What a variant is created from. */
export interface VariantDraft {
  readonly settings: Settings
  readonly options: ReadonlyArray<OptionChoice>
}

/** A row of `product_variants`. */
export interface PlainRow extends SettingsRow {
  readonly product_id: string
  readonly sku: string | null
  readonly primary_sync_source_id: string | null
}

/** The same with the variant's options. */
export interface Row extends PlainRow {
  readonly options: Variant["options"]
}

/** The settings of a variant as columns. */
export const columnsOf = (sql: PgClient.PgClient, settings: Settings) => {
  const { sku = null, primarySyncSourceId = null, ...record } = encode(settings)
  return { sku, primary_sync_source_id: primarySyncSourceId, record: sql.json(record) }
}

/** Writes new variants of a product in their order; answers their ids. */
export const insertVariants = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  random: SecureRandom.SecureRandom["Service"],
  tenant: Tenant,
  by: string,
  productId: string,
  drafts: ReadonlyArray<VariantDraft>
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

/** Gives a variant these options instead of those it had. */
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

/** The settings of a row. */
export const settingsOf = ({ record, sku, primary_sync_source_id }: PlainRow): Settings =>
  decode({
    ...record,
    ...(sku !== null && { sku }),
    ...(primary_sync_source_id !== null && { primarySyncSourceId: primary_sync_source_id })
  })

/** The variant of a row, without its options. */
export const toPlainVariant = (row: PlainRow): PlainVariant => {
  const settings = settingsOf(row)
  return {
    ...identityAndStamps(row),
    productId: row.product_id,
    sku: settings.sku ?? null,
    price: settings.price ?? null,
    inventoryQuantity: settings.inventoryQuantity ?? null,
    inventoryPolicy: settings.inventoryPolicy,
    metadata: settings.metadata ?? null,
    primaryExternalId: settings.primaryExternalId ?? null,
    primarySourceVendor: settings.primarySourceVendor ?? null,
    primarySyncSourceId: settings.primarySyncSourceId ?? null,
    primaryLastSyncedAt: settings.primaryLastSyncedAt ?? null
  }
}

/** The variant of a row. */
export const toVariant = (row: Row): Variant => ({ ...toPlainVariant(row), options: row.options })

const encode = Schema.encodeSync(Settings)
const decode = Schema.decodeUnknownSync(Settings)

const rowsOfOptions = (id: string, options: ReadonlyArray<OptionChoice>) =>
  options.map(({ optionId, valueId }) => ({ product_variant_id: id, option_id: optionId, value_id: valueId }))
