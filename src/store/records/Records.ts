/**
 * The operations of a kind of record, derived from its declaration. A service uses those that fit and writes the others
 * with the same statements.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, type Result } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Declaration } from "./Declaration.ts"
import { makeList } from "./Lists.ts"
import type { Page, PageQuery, PageRefused } from "./Pagination.ts"
import { RecordNotFound } from "./RecordNotFound.ts"
import { type Columns, type RecordRow, type Stamp, stampOf } from "./Rows.ts"
import { makeStatements, hold, type Statements } from "./Statements.ts"
import { orTaken } from "./Taken.ts"
import { ofTenant } from "./Tenancy.ts"

/** The read operations of records. `Item` is a record as the list shows it. */
export interface Readable<A, Sort extends string, Filter = object, Item = A> {
  find(tenant: Tenant, id: string): Effect.Effect<A, RecordNotFound | Unavailable>
  list(tenant: Tenant, query: PageQuery<Sort>, filter?: Filter): Effect.Effect<Page<Item>, PageRefused | Unavailable>
}

/** The operation that changes settings. `Extra` is data that a caller can replace together with the settings. */
export interface Changeable<A, Settings, Wrong = never, Extra = never> {
  /** Replaces the settings with the result of `revise`, and `extra` if it is given. The record is locked. */
  change(
    tenant: Tenant,
    id: string,
    by: string,
    revise: (settings: Settings) => Settings,
    extra?: Extra
  ): Effect.Effect<A, Wrong | RecordNotFound | Unavailable>
}

/** The operation that changes settings, where the caller can refuse. */
export interface Revisable<A, Settings, Wrong = never, Extra = never> {
  /**
   * Replaces the settings with the result of `revise`, unless it refuses, and `extra` if it is given. The record is
   * locked.
   */
  change<E>(
    tenant: Tenant,
    id: string,
    by: string,
    revise: (settings: Settings) => Result.Result<Settings, E>,
    extra?: Extra
  ): Effect.Effect<A, E | Wrong | RecordNotFound | Unavailable>
}

/** The result of archiving: the archived record, or why nothing changed. */
export type Archival<A, Blocked> = { readonly _tag: "Archived"; readonly record: A } | Blocked

/** The operations that archive and restore records. */
export interface Archivable<A, Blocked, Wrong = never> {
  archive(tenant: Tenant, id: string, by: string): Effect.Effect<Archival<A, Blocked>, RecordNotFound | Unavailable>
  /** Restores the record alone, without records below it. Returns it unchanged if it is not archived. */
  restore(tenant: Tenant, id: string, by: string): Effect.Effect<A, Wrong | RecordNotFound | Unavailable>
}

/** The operations and the statements of a kind of record, and the client that runs them. */
export const make = <Row extends RecordRow, A, Sort extends string, Blocked = never, Wrong = never>(
  declaration: Declaration<Row, A, Sort, Blocked, Wrong>
) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const statements = makeStatements(sql, yield* SecureRandom.SecureRandom, declaration)
    const { lock, update, show } = statements

    const find = Effect.fn(`${declaration.service}.find`)(function* (tenant: Tenant, id: string) {
      return yield* show(yield* statements.find(tenant, id))
    }, orUnavailable)

    /** Locks the record and writes the columns that `revise` computes from its row. */
    const change = Effect.fn(`${declaration.service}.change`)(
      function* <E>(
        tenant: Tenant,
        id: string,
        by: string,
        revise: (row: Row, stamp: Stamp) => Effect.Effect<Columns, E>
      ) {
        const row = yield* lock(tenant, id)
        const stamp = yield* stampOf(by)
        return yield* show(yield* update(id, stamp, yield* revise(row, stamp)))
      },
      sql.withTransaction,
      orUnavailable
    )

    return {
      sql,
      statements,
      find,
      list: yield* makeList(declaration),
      change,
      archive: makeArchive(sql, declaration, statements),
      restore: makeRestore(sql, declaration, statements)
    }
  })

/** Creates the lock of the parent. It returns the error of restoring, if the parent is archived. */
const makeLockParent = <Row extends RecordRow, A, Sort extends string, Blocked, Wrong>(
  sql: PgClient.PgClient,
  { table, alias, record, parent }: Declaration<Row, A, Sort, Blocked, Wrong>
) =>
  Effect.fnUntraced(function* (tenant: Tenant, id: string) {
    if (parent === undefined) return undefined
    const own = sql`
      select ${sql(alias)}.${sql(parent.column)} from ${sql(table)} ${sql(alias)}
      where ${sql(alias)}.id = ${id} and ${ofTenant(sql, tenant, alias)}`
    const parents = yield* sql<{ readonly archived: boolean }>`
      select archived from ${sql(parent.table)} where id = (${own}) for ${sql.literal(parent.lock)}`
    if (parents[0] === undefined) return yield* new RecordNotFound({ record })
    return parents[0].archived ? parent.whenArchived : undefined
  })

/** Creates `archive`. It does nothing if the declaration reports a conflict. */
export const makeArchive = <Row extends RecordRow, A, Sort extends string, Blocked, Wrong>(
  sql: PgClient.PgClient,
  declaration: Declaration<Row, A, Sort, Blocked, Wrong>,
  { lock, update, show }: Statements<Row, A>
) => {
  const lockParent = makeLockParent(sql, declaration)
  return Effect.fn(`${declaration.service}.archive`)(
    function* (tenant: Tenant, id: string, by: string) {
      if (declaration.parent?.lock === "update") yield* lockParent(tenant, id)
      const row = yield* lock(tenant, id)
      const blocked = yield* declaration.blockedBy?.(sql, row) ?? Effect.undefined
      if (blocked !== undefined) return blocked
      const stamp = yield* stampOf(by)
      if (declaration.archiveBelow !== undefined) yield* declaration.archiveBelow(sql, row, stamp)
      return { _tag: "Archived" as const, record: yield* show(yield* update(id, stamp, { archived: true })) }
    },
    sql.withTransaction,
    orUnavailable
  )
}

/**
 * Creates `restore`. It restores the record alone, without records below it. It does nothing if the record is not
 * archived, and fails if the parent or a reference is archived.
 */
export const makeRestore = <Row extends RecordRow, A, Sort extends string, Blocked, Wrong>(
  sql: PgClient.PgClient,
  declaration: Declaration<Row, A, Sort, Blocked, Wrong>,
  { lockAny, update, show }: Statements<Row, A>
) => {
  const { references = [] } = declaration
  const lockParent = makeLockParent(sql, declaration)
  return Effect.fn(`${declaration.service}.restore`)(
    function* (tenant: Tenant, id: string, by: string) {
      // The parent is locked before the record, as archiving the parent does. Another lock order could deadlock.
      const wrongParent = yield* lockParent(tenant, id)
      const row = yield* lockAny(tenant, id)
      if (!row.archived) return yield* show(row)
      if (wrongParent !== undefined) return yield* Effect.fail(wrongParent)
      for (const { table, column, whenArchived } of references) {
        const named = (row as Columns & Row)[column]
        if (typeof named !== "string") continue
        if ((yield* hold(sql, tenant, table, [named])).length === 0) return yield* Effect.fail(whenArchived)
      }
      const columns = declaration.restored === undefined ? {} : yield* declaration.restored(sql, tenant, row)
      const restored = update(id, yield* stampOf(by), { ...columns, archived: false })
      return yield* show(yield* orTaken(() => declaration.whenTaken?.(row))(restored))
    },
    sql.withTransaction,
    orUnavailable
  )
}
