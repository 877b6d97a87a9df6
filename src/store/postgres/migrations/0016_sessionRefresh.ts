/**
 * Sessions whose replaced refresh token returns its successor again for a short time, and the sessions of one
 * consumer.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The token that the last refresh replaced, the time of that refresh, and the value from which the successor's id
  // is computed (auth/sessions/Sessions.ts). Absent until the first refresh.
  yield* sql`
    alter table sessions
      add column replaced_hash bytea,
      add column refreshed_at timestamptz,
      add column successor_salt bytea`

  // Includes guests, so that their sessions can be listed and ended.
  yield* sql`create index sessions_by_consumer on sessions (consumer_id)`
  yield* sql`drop index sessions_of_consumers`
})
