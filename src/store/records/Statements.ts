/**
 * The statements that the operations of a kind of record consist of. They join the transaction of the caller.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Declaration, Parent, Reference } from "./Declaration.ts"
import { RecordNotFound } from "./RecordNotFound.ts"
import { type Columns, newRow, type RecordRow, type Stamp, stamped } from "./Rows.ts"
import { ofTenant, unarchivedOf } from "./Tenancy.ts"

/** The statements of a kind of record. */
export type Statements<Row extends RecordRow, A> = ReturnType<typeof makeStatements<Row, A, string, unknown, unknown>>

/** Makes the statements of a kind of record. */
export const makeStatements = <Row extends RecordRow, A, Sort extends string, Blocked, Wrong>(
  sql: PgClient.PgClient,
  random: SecureRandom.SecureRandom["Service"],
  declaration: Declaration<Row, A, Sort, Blocked, Wrong>
) => {
  const { alias, fields, joined, record } = declaration
  const table = sql(declaration.table)
  const row = sql.literal(alias)
  const columns = fields?.(sql) ?? sql`${row}.*`
  const notFound = Effect.fail(new RecordNotFound({ record }))

  /** The rows that fit, archived or not. */
  const select = (where: Fragment) =>
    sql<Row>`select ${columns} from ${table} ${row} ${joined?.(sql) ?? sql``} where ${where}`

  const one = (rows: ReadonlyArray<Row>): Effect.Effect<Row, RecordNotFound> =>
    rows[0] === undefined ? notFound : Effect.succeed(rows[0])

  const withId = (id: string) => sql`${row}.id = ${id}`

  /** True of the tenant's record with this id. */
  const present = (tenant: Tenant, id: string) => {
    const ofTenantNow = declaration.isArchivable === false ? ofTenant : unarchivedOf
    return sql`${withId(id)} and ${ofTenantNow(sql, tenant, alias)}`
  }

  /** The row of the tenant's record. */
  const find = (tenant: Tenant, id: string) => Effect.flatMap(select(present(tenant, id)), one)

  const locked = (where: Fragment) => Effect.flatMap(sql<Row>`${select(where)} for update of ${row}`, one)

  /** Locks the tenant's record. Those that begin to use it wait. */
  const lock = (tenant: Tenant, id: string) => locked(present(tenant, id))

  /** Locks the tenant's record, archived or not. */
  const lockAny = (tenant: Tenant, id: string) => locked(sql`${withId(id)} and ${ofTenant(sql, tenant, alias)}`)

  /** The row that was written, with the columns that reading adds. */
  const written = Effect.fnUntraced(function* (row: Row) {
    if (declaration.written !== undefined) yield* declaration.written(sql, row.id)
    return fields === undefined ? row : (yield* select(withId(row.id)))[0]!
  })

  /** Creates a record with these columns. */
  const insert = Effect.fnUntraced(function* (tenant: Tenant, stamp: Stamp, settings: (id: string) => Columns) {
    const id = yield* random.uuidV7()
    const row = { ...newRow(tenant, id, stamp), ...settings(id) }
    const rows = yield* sql<Row>`insert into ${table} ${sql.insert(row).returning("*")}`
    return yield* written(rows[0]!)
  })

  /** Changes these columns of a record that is locked. */
  const update = Effect.fnUntraced(function* (id: string, stamp: Stamp, settings: Columns) {
    const set = sql.update({ ...settings, ...stamped(stamp) })
    const rows = yield* sql<Row>`update ${table} set ${set} where id = ${id} returning *`
    return yield* written(rows[0]!)
  })

  /** Changes these columns of the tenant's record, which needs no lock. */
  const updateOf = Effect.fnUntraced(function* (tenant: Tenant, id: string, stamp: Stamp, settings: Columns) {
    const set = sql.update({ ...settings, ...stamped(stamp) })
    const rows = yield* sql<Row>`
      update ${table} ${row} set ${set} where ${present(tenant, id)} returning *`
    return yield* written(yield* one(rows))
  })

  /** The record of a row. */
  const show = (row: Row): Effect.Effect<A, SqlError> =>
    Effect.map(declaration.recordsOf([row], sql), ([record]) => record!)

  return { select, find, lock, lockAny, insert, update, updateOf, show }
}

/** Locks the tenant's unarchived records among those named, always in the order of their ids. */
export const hold = <Row extends object = { readonly id: string }>(
  sql: PgClient.PgClient,
  tenant: Tenant,
  table: string,
  ids: ReadonlyArray<string>,
  columns = "id"
): Effect.Effect<ReadonlyArray<Row>, SqlError> =>
  ids.length === 0
    ? Effect.succeed([])
    : sql<Row>`
        select ${sql.literal(columns)} from ${sql(table)}
        where id = any(${ids}::uuid[]) and ${unarchivedOf(sql, tenant)} order by id for share`

/** Locks the tenant's record that another one names. Fails if it is unknown or archived; absent names pass. */
export const holdReference = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  tenant: Tenant,
  { table, record }: Pick<Reference<unknown>, "table" | "record">,
  id: string | null
) {
  if (id !== null && (yield* hold(sql, tenant, table, [id])).length === 0) return yield* new RecordNotFound({ record })
})

/** Locks the record below which one is created. */
export const holdParent = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  tenant: Tenant,
  { table, record, lock }: Pick<Parent<unknown>, "table" | "record" | "lock">,
  id: string
) {
  const parents = yield* sql`
    select id from ${sql(table)} where id = ${id} and ${unarchivedOf(sql, tenant)} for ${sql.literal(lock)}`
  if (parents.length === 0) return yield* new RecordNotFound({ record })
})
