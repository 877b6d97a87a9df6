/**
 * The manifest of a backup. The file is a tar archive:
 *
 *     backup.json               what follows: version, schema, instant, tables with their columns
 *     journal/000001.copy.gz    rows as COPY's text format, in parts of some MB; `cat journal/* | gunzip` joins them
 *     …
 *     manifest.json             backup.json, with rows, bytes and the SHA-256 of each table's text, and an HMAC of all this
 *     SHA256SUMS                the digests of both JSON files, for `sha256sum --check`
 *
 * An archive without its last entry is incomplete.
 */
import { Schema } from "effect"

/** The version of this layout. */
export const format = 1

/** A table and the columns whose values the archive contains. Generated columns are left out. */
export const Table = Schema.Struct({ name: Schema.String, columns: Schema.Array(Schema.String) })
export type Table = typeof Table.Type

/** Where the rows of a file come from. */
export const origin = {
  /** The version of Usher that wrote the file. */
  usher: Schema.String,
  /** The last migration of the database. */
  schemaStep: Schema.Int,
  /** The instant of the snapshot, ISO 8601. */
  at: Schema.String
}

const introduction = { format: Schema.Int, ...origin }

/** The content of `backup.json`. */
export const Introduction = Schema.Struct({ ...introduction, tables: Schema.Array(Table) })
export type Introduction = typeof Introduction.Type

/** The counts and the digest of a copied table. */
export const CopiedTable = Schema.Struct({
  ...Table.fields,
  rows: Schema.Int,
  /** Of the text, before compression. */
  bytes: Schema.Int,
  sha256: Schema.String
})
export type CopiedTable = typeof CopiedTable.Type

/** An HMAC-SHA256 of what the manifest says, in hexadecimal, with the key that `keyId` names. */
const Authentication = Schema.Struct({ keyId: Schema.String, hmacSha256: Schema.String })
export type Authentication = typeof Authentication.Type

/** The content of `manifest.json`. */
export const Manifest = Schema.Struct({
  ...introduction,
  tables: Schema.Array(CopiedTable),
  /**
   * The heads of all journals: how many there are, and the sum of their sequences, which is the number of events. Journals
   * that are in archives (`months/`) have heads and no events here.
   */
  heads: Schema.Struct({ mechanisms: Schema.Int, events: Schema.Int }),
  /** Absent if `SECRETS_KEY` was not set, and in backups of releases before it was written. */
  authentication: Schema.optionalKey(Authentication)
})
export type Manifest = typeof Manifest.Type

export const introductionName = "backup.json"
export const manifestName = "manifest.json"
export const sumsName = "SHA256SUMS"

/** Returns the name of a part of a table, from 1. */
export const partName = (table: string, part: number): string => `${table}/${`${part}`.padStart(6, "0")}.copy.gz`

/** Returns the table of a part; undefined if the name is not a part's. */
export const tableOfPart = (name: string): string | undefined => /^(\w+)\/\d{6}\.copy\.gz$/.exec(name)?.[1]
