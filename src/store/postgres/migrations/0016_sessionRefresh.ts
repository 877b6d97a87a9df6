/** Sessions whose replaced refresh token answers its successor again for a moment, and the sessions of one consumer. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What the last refresh replaced, when it did so, and what the successor's id is worked out with (auth/sessions/Sessions.ts).
  // Absent until the session is refreshed for the first time.
  yield* sql`
    alter table sessions
      add column replaced_hash bytea,
      add column refreshed_at timestamptz,
      add column successor_salt bytea`

  // Of guests too, so that their sessions can be listed and ended.
  yield* sql`create index sessions_by_consumer on sessions (consumer_id)`
  yield* sql`drop index sessions_of_consumers`
})
