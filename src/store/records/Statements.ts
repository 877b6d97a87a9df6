/**
 * The statements for the operations of a kind of record. They join the transaction of the caller.
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

/** Creates the statements of a kind of record. */
export const makeStatements = <Row extends RecordRow, A, Sort extends string, Blocked, Wrong>(
  sql: PgClient.PgClient,
  random: SecureRandom.SecureRandom["Service"],
  declaration: Declaration<Row, A, Sort, Blocked, Wrong>
) => {
  const reads = makeReads(sql, declaration)

  const show = (row: Row): Effect.Effect<A, SqlError> =>
    Effect.map(declaration.recordsOf([row], sql), ([record]) => record!)

  return { ...reads, ...makeWrites(sql, random, declaration, reads), show }
}

const makeReads = <Row extends RecordRow, A, Sort extends string, Blocked, Wrong>(
  sql: PgClient.PgClient,
  { table, alias, record, fields, joined, isArchivable }: Declaration<Row, A, Sort, Blocked, Wrong>
) => {
  const row = sql.literal(alias)
  const columns = fields?.(sql) ?? sql`${row}.*`
  const from = sql`${sql(table)} ${row} ${joined?.(sql) ?? sql``}`

  /** Returns the rows that meet the condition, archived or not. */
  const select = (where: Fragment) => sql<Row>`select ${columns} from ${from} where ${where}`

  const one = (rows: ReadonlyArray<Row>): Effect.Effect<Row, RecordNotFound> =>
    rows[0] === undefined ? Effect.fail(new RecordNotFound({ record })) : Effect.succeed(rows[0])

  const withId = (id: string) => sql`${row}.id = ${id}`
  const ofAny = (tenant: Tenant, id: string) => sql`${withId(id)} and ${ofTenant(sql, tenant, alias)}`
  const ofPresent = (tenant: Tenant, id: string) =>
    isArchivable === false ? ofAny(tenant, id) : sql`${withId(id)} and ${unarchivedOf(sql, tenant, alias)}`

  const locked = (where: Fragment) => Effect.flatMap(sql<Row>`${select(where)} for update of ${row}`, one)

  return {
    select,
    one,
    ofPresent,
    /** Returns the row of the tenant's record. */
    find: (tenant: Tenant, id: string) => Effect.flatMap(select(ofPresent(tenant, id)), one),
    /** Locks the tenant's record. Transactions that start to use it wait. */
    lock: (tenant: Tenant, id: string) => locked(ofPresent(tenant, id)),
    /** Locks the tenant's record, archived or not. */
    lockAny: (tenant: Tenant, id: string) => locked(ofAny(tenant, id))
  }
}

const makeWrites = <Row extends RecordRow, A, Sort extends string, Blocked, Wrong>(
  sql: PgClient.PgClient,
  random: SecureRandom.SecureRandom["Service"],
  declaration: Declaration<Row, A, Sort, Blocked, Wrong>,
  { select, one, ofPresent }: ReturnType<typeof makeReads<Row, A, Sort, Blocked, Wrong>>
) => {
  const { alias, fields } = declaration
  const table = sql(declaration.table)

  /** Returns the written row, with the columns that reading adds. */
  const written = Effect.fnUntraced(function* (row: Row) {
    if (declaration.written !== undefined) yield* declaration.written(sql, row.id)
    return fields === undefined ? row : (yield* select(sql`${sql(alias)}.id = ${row.id}`))[0]!
  })

  /** Creates a record with these columns. Its id is a UUIDv7, or the given one. */
  const insert = Effect.fnUntraced(function* (
    tenant: Tenant,
    stamp: Stamp,
    columns: (id: string) => Columns,
    given?: string
  ) {
    const id = given ?? (yield* random.uuidV7())
    const row = { ...newRow(tenant, id, stamp), ...columns(id) }
    const rows = yield* sql<Row>`insert into ${table} ${sql.insert(row).returning("*")}`
    return yield* written(rows[0]!)
  })

  /** Changes these columns of a locked record. */
  const update = Effect.fnUntraced(function* (id: string, stamp: Stamp, columns: Columns) {
    const set = sql.update({ ...columns, ...stamped(stamp) })
    const rows = yield* sql<Row>`update ${table} set ${set} where id = ${id} returning *`
    return yield* written(rows[0]!)
  })

  /** Changes these columns of the tenant's record, without locking it first. */
  const updateOf = Effect.fnUntraced(function* (tenant: Tenant, id: string, stamp: Stamp, columns: Columns) {
    const set = sql.update({ ...columns, ...stamped(stamp) })
    const rows = yield* sql<Row>`
      update ${table} ${sql.literal(alias)} set ${set} where ${ofPresent(tenant, id)} returning *`
    return yield* written(yield* one(rows))
  })

  return { insert, update, updateOf }
}

/** Locks the tenant's unarchived records among those named, always sorted by id. */
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

/** Locks the tenant's record that another one references. Fails if it is unknown or archived. Accepts absent names. */
export const holdReference = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  tenant: Tenant,
  { table, record }: Pick<Reference<unknown>, "table" | "record">,
  id: string | undefined
) {
  if (id !== undefined && (yield* hold(sql, tenant, table, [id])).length === 0)
    return yield* new RecordNotFound({ record })
})

/** Locks the parent of a new record. */
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
