/** The number of digits of a one-time code. Those of a former release have six. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table one_time_codes add column digits smallint not null default 6`
})
