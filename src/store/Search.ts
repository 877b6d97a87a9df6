/**
 * Search in lists (interface document 8.3): rows whose text contains what is looked for, upper and lower case alike. An
 * index over `search_pieces` of the very same text expression finds the few rows that can, however many there are; the
 * pattern then decides.
 */
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { containing } from "./Pagination.ts"

/** Pieces of what is looked for that the index is asked for; a few leave few rows, and each costs a look. */
const piecesAsked = 12

/** True for rows whose `text`, an SQL expression that is never null, contains `search`. */
export const found = (sql: SqlClient, text: string, search: string | undefined): Fragment =>
  search === undefined
    ? sql`true`
    : sql`(search_pieces(${sql.literal(text)}) @> array(
          select piece from unnest(search_pieces(${search})) as piece order by length(piece) desc limit ${piecesAsked}
        ) and ${sql.literal(text)} ilike ${containing(search)})`
