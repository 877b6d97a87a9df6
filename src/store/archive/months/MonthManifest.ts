/**
 * The manifest of a month's archive. The file is a tar archive like a backup (`../Manifest.ts`):
 *
 *     archive.json              what follows: format, version, schema, instant, month
 *     journal/000001.copy.gz    the events of the month's mechanisms as COPY's text format
 *     places/000001.copy.gz     their places
 *     manifest.json             archive.json, with counts and the SHA-256 of each table's text
 *     SHA256SUMS                the digests of both JSON files
 */
import { Option, Schema } from "effect"
import { CopiedTable, origin, Table } from "../Manifest.ts"
import { Month } from "./Month.ts"

/** The version of this layout. */
export const format = 1

const introduction = {
  format: Schema.Literal(format),
  /** The archive's id in `archives`. */
  id: Schema.String,
  month: Month,
  ...origin
}

/** The content of `archive.json`. */
export const MonthIntroduction = Schema.Struct({ ...introduction, tables: Schema.Array(Table) })
export type MonthIntroduction = typeof MonthIntroduction.Type

/** The content of `manifest.json`. */
export const MonthManifest = Schema.Struct({
  ...introduction,
  tables: Schema.Array(CopiedTable),
  mechanisms: Schema.Int,
  events: Schema.Int,
  places: Schema.Int
})
export type MonthManifest = typeof MonthManifest.Type

export const monthIntroductionName = "archive.json"

/** The tables whose rows go to an archive. */
export const archivedTables = ["journal", "places"] as const

export const decodeMonthIntroduction = (text: string): Option.Option<MonthIntroduction> =>
  Schema.decodeUnknownOption(Schema.fromJsonString(MonthIntroduction))(text)
export const decodeMonthManifest = (text: string): Option.Option<MonthManifest> =>
  Schema.decodeUnknownOption(Schema.fromJsonString(MonthManifest))(text)
