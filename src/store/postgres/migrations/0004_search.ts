/**
 * Search in lists. A function splits a text into its parts of two and three characters, as an array for a GIN index.
 * It is a plain function, because the extension for this is not available on every server, and finds nothing for two
 * characters.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create function search_pieces(value text) returns text[] language sql immutable strict parallel safe as $$
      select array(
        select distinct substr(text, start, size)
        from (select lower(value) as text) as lowered, generate_series(2, 3) as size,
          generate_series(1, length(text) - size + 1) as start
      )
    $$`
})
