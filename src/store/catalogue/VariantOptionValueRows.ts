/**
 * The values of variant options as rows.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { ValueSettings, VariantOptionValue } from "../../domain/catalogue/VariantOption.ts"
import { identityAndStamps, type RecordRow } from "../records/Rows.ts"

export interface Row extends RecordRow {
  readonly option_id: string
  readonly value: string
  readonly is_centrally_managed: boolean
  readonly sort_order: number
  readonly record: { readonly displayValue?: string; readonly colorHex?: string }
}

export const columnsOf = (sql: PgClient.PgClient, { value, isCentrallyManaged, ...record }: ValueSettings) => ({
  value,
  is_centrally_managed: isCentrallyManaged,
  record: sql.json(record)
})

export const settingsOf = ({ value, is_centrally_managed, record }: Row): ValueSettings => ({
  ...record,
  value,
  isCentrallyManaged: is_centrally_managed
})

export const toValue = (row: Row): VariantOptionValue => ({
  ...identityAndStamps(row),
  optionId: row.option_id,
  value: row.value,
  displayValue: row.record.displayValue ?? null,
  colorHex: row.record.colorHex ?? null,
  isCentrallyManaged: row.is_centrally_managed,
  sortOrder: row.sort_order
})

/** Returns the unarchived values of an option, sorted by position. */
export const valuesOf = (sql: PgClient.PgClient, optionId: string) =>
  sql<Row>`
    select * from variant_option_values where option_id = ${optionId} and not archived
    order by sort_order, id`.pipe(Effect.map((rows) => rows.map(toValue)))
