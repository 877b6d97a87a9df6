/**
 * The tables of the database, from its catalogue, so that a new table is part of the next backup. Excluded are those
 * that describe running processes, and the list of migrations, which a restore makes itself.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Table } from "./Manifest.ts"

const excluded = ["usher_migrations", "nodes", "leases"]

/** Ordinary tables of the current schema. */
const own = `c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')`

/** The tables that Effect's cluster makes at the first start of a node. */
const ofCluster = `c.relname like 'cluster\\_%'`

/** Returns the tables with their columns, without generated ones, sorted by name. */
export const list = (sql: SqlClient.SqlClient) =>
  sql.unsafe<Table>(
    `select c.relname::text as name,
      (select array_agg(attname::text order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
    from pg_class c where ${own} and not c.relispartition and not (c.relname = any($1) or ${ofCluster})
    order by c.relname`,
    [excluded]
  )

/** Returns the bytes that the tables' rows occupy, about. */
export const bytes = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql.unsafe<{ readonly bytes: number }>(
      `select coalesce(sum(pg_table_size(c.oid)), 0)::float8 as bytes from pg_class c where ${own}`
    ),
    ([row]) => row!.bytes
  )

/** Returns the names of tables, views, sequences and functions in the current schema, at most five. */
export const anyObjects = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql.unsafe<{ readonly name: string }>(
      `select relname::text as name from pg_class where relnamespace = current_schema()::regnamespace and relkind <> 'i'
      union all select proname::text from pg_proc where pronamespace = current_schema()::regnamespace limit 5`
    ),
    (rows) => rows.map(({ name }) => name)
  )

/** Returns the statement that copies a table. */
export const copy = ({ name, columns }: Table, direction: "to stdout" | "from stdin"): string =>
  `copy ${quoted(name)} (${columns.map(quoted).join(", ")}) ${direction} (format text, encoding 'UTF8')`

/** Returns the statement that copies those rows `t` of a table that a condition selects: `join … where …`. */
export const copySelected = ({ name, columns }: Table, condition: string): string =>
  `copy (select ${columns.map((column) => `t.${quoted(column)}`).join(", ")} from ${quoted(name)} t ${condition}) to stdout ` +
  "(format text, encoding 'UTF8')"

/**
 * Removes what makes the load slow or would act on it: foreign keys, indexes without a constraint, and triggers. Returns
 * the statements that bring them back.
 */
export const strip = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const parts = yield* sql.unsafe<{ readonly remove: string; readonly restore: string }>(
    `select 'alter table ' || conrelid::regclass || ' drop constraint ' || quote_ident(conname) as remove,
      'alter table ' || conrelid::regclass || ' add constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid)
        as restore, 3 as number
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace and conparentid = 0
    union all
    select 'drop index ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid), 1
    from pg_index i join pg_class c on c.oid = i.indrelid
    where ${own} and not exists (select from pg_constraint where conindid = i.indexrelid)
    union all
    select 'alter table ' || c.oid::regclass || ' disable trigger user',
      'alter table ' || c.oid::regclass || ' enable trigger user', 2
    from pg_class c where ${own}
    order by number`
  )
  // Foreign keys go first, because they may need an index. They come back last.
  yield* Effect.forEach(parts.toReversed(), ({ remove }) => sql.unsafe(remove), { discard: true })
  return parts.map(({ restore }) => restore)
})

/** Removes all rows of a table. */
export const empty = (sql: SqlClient.SqlClient, { name }: Table) => sql.unsafe(`delete from ${quoted(name)}`)

/** Sets the sequences of identity columns behind the greatest value. */
export const advanceIdentities = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const columns = yield* sql.unsafe<{ readonly name: string; readonly column: string; readonly sequence: string }>(
    `select c.oid::regclass::text as name, quote_ident(attname) as column,
      pg_get_serial_sequence(c.oid::regclass::text, attname) as sequence
    from pg_attribute join pg_class c on c.oid = attrelid where ${own} and attidentity <> ''`
  )
  yield* Effect.forEach(columns, ({ name, column, sequence }) =>
    sql.unsafe(`select setval($1::regclass, coalesce(max(${column}), 0) + 1, false) from ${name}`, [sequence])
  )
})

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
