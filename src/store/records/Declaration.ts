/**
 * The declaration of a kind of record: its table, its list, its references, and the conditions for archiving it.
 * `Records.make` derives the operations from it.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment, Statement } from "effect/sql/Statement"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { ListShape } from "./Pagination.ts"
import type { RecordNotFound } from "./RecordNotFound.ts"
import { ParentArchived, ReferenceArchived } from "./Restoring.ts"
import type { Columns, RecordRow, Stamp } from "./Rows.ts"

/** A record that another one references. It is locked while the other is created or restored, so it is not archived. */
export interface Reference<Wrong> {
  readonly table: string
  readonly record: RecordNotFound["record"]
  /** The column that holds its id. */
  readonly column: string
  /** The error of restoring a record that needs this one, if this one is archived. */
  readonly whenArchived: Wrong
}

/** The parent of a kind of record. It is always locked first; with `update` also for archiving. */
export interface Parent<Wrong> extends Reference<Wrong> {
  readonly lock: "share" | "update"
}

/** Declares the parent of a kind of record. */
export const parent = (needed: Omit<Parent<never>, "whenArchived">): Parent<ParentArchived> => ({
  ...needed,
  whenArchived: new ParentArchived({ record: needed.record })
})

/** Declares a record that a kind of record references. */
export const reference = (needed: Omit<Reference<never>, "whenArchived">): Reference<ReferenceArchived> => ({
  ...needed,
  whenArchived: new ReferenceArchived({ record: needed.record })
})

export interface Listed<Sort extends string> {
  readonly shape: ListShape<Sort>
  /** The text that a search reads, as SQL. An index covers `fold_case` of exactly this expression. */
  readonly searched: string
  /** The filters of the list, as SQL expressions. */
  readonly filters?: { readonly [name: string]: string }
}

/** Other records use this one, so it cannot be archived. */
export interface InUse {
  readonly _tag: "InUse"
  readonly users: number
}

/**
 * A kind of record. `A` is the record of a `Row`. `Blocked` is the conflict of archiving, `Wrong` the error of
 * restoring.
 */
export interface Declaration<Row extends RecordRow, A, Sort extends string, Blocked = never, Wrong = never> {
  /** The name of the service in traces. */
  readonly service: string
  readonly record: RecordNotFound["record"]
  readonly table: string
  /** The name of the table in SQL. */
  readonly alias: string
  /** False: records of this kind are never archived. */
  readonly isArchivable?: false
  /** The columns to read, if they are not those of the table, and the joins for them. */
  readonly fields?: (sql: PgClient.PgClient) => Fragment
  readonly joined?: (sql: PgClient.PgClient) => Fragment
  /** Returns the records of rows, in the same order. */
  readonly recordsOf: (rows: ReadonlyArray<Row>, sql: PgClient.PgClient) => Effect.Effect<ReadonlyArray<A>, SqlError>
  readonly list: Listed<Sort>
  readonly parent?: Parent<Wrong>
  readonly references?: ReadonlyArray<Reference<Wrong>>
  /** Runs after each write of a row, in the same transaction. */
  readonly written?: (sql: PgClient.PgClient, id: string) => Effect.Effect<unknown, SqlError>
  /** Returns why the locked record cannot be archived. Undefined if it can be archived. */
  readonly blockedBy?: (sql: PgClient.PgClient, row: Row) => Effect.Effect<Blocked | undefined, SqlError>
  /** Writes the other changes when the record is archived. */
  readonly archiveBelow?: (sql: PgClient.PgClient, row: Row, stamp: Stamp) => Effect.Effect<unknown, SqlError>
  /** The error of restoring a record, if a unique index refuses it. */
  readonly whenTaken?: (row: Row) => Wrong
  /** Checks a locked record before it is restored. Returns columns that change with it. */
  readonly restored?: (sql: PgClient.PgClient, tenant: Tenant, row: Row) => Effect.Effect<Columns, Wrong | SqlError>
}

/** Converts rows whose records need no further statement. */
export const each =
  <Row, A>(recordOf: (row: Row) => A) =>
  (rows: ReadonlyArray<Row>): Effect.Effect<ReadonlyArray<A>> =>
    Effect.succeed(rows.map(recordOf))

/** The result of a statement that counts the users of a record, as `count`. */
export const usedBy = (statement: Statement<{ readonly count: number }>): Effect.Effect<InUse | undefined, SqlError> =>
  Effect.map(statement, (rows) => {
    const users = rows[0]!.count
    return users === 0 ? undefined : { _tag: "InUse", users }
  })
