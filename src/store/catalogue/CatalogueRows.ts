/**
 * The columns that all tables of the catalogue share, and how rows are written.
 */
import type { PgClient } from "@effect/sql-pg"
import { Array, Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"

/** A row of the catalogue; `record` holds the settings that have no column of their own. */
export interface CatalogueRow {
  readonly id: string
  readonly organization_id: string
  readonly record: object
  readonly created_at: Date
  readonly created_by: string
  readonly updated_at: Date
  readonly updated_by: string
  readonly archived: boolean
}

/** What archiving found: it is done, or so many records still need this one. */
export type CatalogueArchival<A> =
  | { readonly _tag: "Archived"; readonly record: A }
  | { readonly _tag: "InUse"; readonly users: number }

/** The columns of a new row, but for its settings. */
export const newRow = ({ organizationId, mode }: Tenant, id: string, by: string, now: Millis) => ({
  id,
  organization_id: organizationId,
  mode,
  created_at: new Date(now),
  created_by: by,
  updated_at: new Date(now),
  updated_by: by
})

/** Writes the rows in one statement, or none if there are none. */
export const insertRows = (
  sql: PgClient.PgClient,
  table: string,
  rows: ReadonlyArray<{ readonly [column: string]: unknown }>
) =>
  Array.isReadonlyArrayNonEmpty(rows) ? Effect.asVoid(sql`insert into ${sql(table)} ${sql.insert(rows)}`) : Effect.void

/** What a record shows of its row besides its settings. */
export const identityAndStamps = (row: CatalogueRow) => ({
  id: row.id,
  organizationId: row.organization_id,
  createdAt: row.created_at.getTime(),
  createdBy: row.created_by,
  updatedAt: row.updated_at.getTime(),
  updatedBy: row.updated_by,
  archived: row.archived
})
