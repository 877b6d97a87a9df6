/** The first answers to requests that may be repeated, and which admin last changed an organization's settings. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Without a status the request is in progress, in the process that has claimed it, until its lease ends.
  yield* sql`
    create table idempotency_keys (
      organization_id uuid not null references organizations,
      mode text not null,
      key text not null,
      fingerprint bytea not null,
      claim_id uuid not null,
      lease_until timestamptz not null,
      status int,
      content_type text,
      body bytea,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      primary key (organization_id, mode, key)
    )`
  // Rows are written in the order in which they expire, so the smallest kind of index finds expired rows.
  yield* sql`create index idempotency_keys_by_expiry on idempotency_keys using brin (expires_at)`

  yield* sql`alter table organizations add column updated_at timestamptz, add column updated_by text`
})
