/**
 * The index by which analytics finds events. Events are stored in the order in which they happen, so the smallest
 * kind of index finds those of a period. It costs an append almost nothing; a B-tree would cost an entry for each
 * event.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`create index journal_by_time on journal using brin (at) with (pages_per_range = 32, autosummarize = on)`
})
