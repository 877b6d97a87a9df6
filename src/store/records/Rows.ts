/**
 * The columns that the tables of records share, and the functions that write rows.
 */
import type { PgClient } from "@effect/sql-pg"
import { Array, Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import * as Time from "../coordination/Time.ts"

/** The shared columns of a row. */
export interface RecordRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly created_by: string
  readonly updated_at: Date
  readonly updated_by: string
  readonly archived: boolean
}

/** A row whose `record` contains the settings without a column. */
export interface SettingsRow extends RecordRow {
  readonly record: object
}

export interface Columns {
  readonly [column: string]: unknown
}

/** The author and the time of a write. */
export interface Stamp {
  readonly by: string
  readonly now: Date
}

/** Returns the author and the current time. */
export const stampOf = (by: string): Effect.Effect<Stamp> => Effect.map(Time.now, (now) => ({ by, now: new Date(now) }))

/** Returns the columns for the author and the time of a change. */
export const stamped = ({ by, now }: Stamp) => ({ updated_at: now, updated_by: by })

/** Returns the columns of a new row, except its settings. */
export const newRow = ({ organizationId, mode }: Tenant, id: string, stamp: Stamp) => ({
  id,
  organization_id: organizationId,
  mode,
  created_at: stamp.now,
  created_by: stamp.by,
  ...stamped(stamp)
})

/** Writes the rows in one statement. Without rows it runs no statement. */
export const insertRows = (sql: PgClient.PgClient, table: string, rows: ReadonlyArray<Columns>) =>
  Array.isReadonlyArrayNonEmpty(rows) ? Effect.asVoid(sql`insert into ${sql(table)} ${sql.insert(rows)}`) : Effect.void

/** Returns the fields of a record that come from the shared columns. */
export const identityAndStamps = (row: RecordRow) => ({
  id: row.id,
  organizationId: row.organization_id,
  createdAt: row.created_at.getTime(),
  createdBy: row.created_by,
  updatedAt: row.updated_at.getTime(),
  updatedBy: row.updated_by,
  archived: row.archived
})
