/**
 * Search in lists (interface document 8.3): rows whose text contains what is looked for, upper and lower case alike. An
 * index over `search_pieces` of the very same text expression finds the few rows that can, however many there are; the
 * pattern then decides.
 */
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { containing } from "./Pagination.ts"

/** True for rows whose `text`, an SQL expression that is never null, contains `search`. */
export const found = (sql: SqlClient, text: string, search: string | undefined): Fragment =>
  search === undefined
    ? sql`true`
    : sql`(search_pieces(${sql.literal(text)}) @> search_pieces(${search}) and ${sql.literal(text)} ilike ${containing(search)})`
