/**
 * Archiving and restoring records. Both lock the record, and restoring locks its parent first.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Declaration } from "./Declaration.ts"
import { RecordNotFound } from "./RecordNotFound.ts"
import { type Columns, type RecordRow, stampOf } from "./Rows.ts"
import { hold, type Statements } from "./Statements.ts"
import { orTaken } from "./Taken.ts"
import { ofTenant } from "./Tenancy.ts"

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
