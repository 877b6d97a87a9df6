/**
 * Inserts many records of one table in one statement, to fill an organization with sample data. The caller ensures
 * everything that the repositories would check.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { withoutBounds } from "./BoundedClient.ts"

/** The tables that can be filled, each after those it refers to. */
export type SampleTable =
  | "products"
  | "product_variants"
  | "experiences"
  | "sequences"
  | "experience_pages"
  | "consumers"
  | "orders"

/** A row by column names. All rows of one statement have the same columns. */
export interface SampleRow {
  readonly [column: string]: unknown
}

export const insert = Effect.fnUntraced(function* (table: SampleTable, rows: ReadonlyArray<SampleRow>) {
  const [first] = rows
  if (first === undefined) return
  const sql = yield* PgClient.PgClient
  const columns = sql.literal(
    Object.keys(first)
      .map((column) => `"${column}"`)
      .join(", ")
  )
  yield* withoutBounds(sql`
    insert into ${sql(table)} (${columns})
    select ${columns} from json_populate_recordset(null::${sql(table)}, ${JSON.stringify(rows)}::json)`)
})

/** Updates the database's statistics about the rows, which it would otherwise do some time later. */
export const analyze = Effect.flatMap(PgClient.PgClient, (sql) => Effect.asVoid(withoutBounds(sql`analyze`)))
