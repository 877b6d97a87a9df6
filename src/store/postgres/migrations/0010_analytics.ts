/**
 * What an analytics query looks events up by. They are stored in the order in which they happen, so that the smallest
 * kind of index finds those of a time: it costs an append next to nothing, where a B-tree would cost every event an entry.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`create index journal_by_time on journal using brin (at) with (pages_per_range = 32, autosummarize = on)`
})
