/** The sessions of people who use the dashboard. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table operator_sessions (
      hash bytea primary key,
      api_key_id uuid not null references api_keys on delete cascade,
      created_at timestamptz not null,
      expires_at timestamptz not null
    )`
  yield* sql`create index operator_sessions_by_key on operator_sessions (api_key_id)`
  yield* sql`create index operator_sessions_by_expiry on operator_sessions (expires_at)`
})
