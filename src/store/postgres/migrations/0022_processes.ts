/**
 * Every serving process has a row in `nodes`, which it updates while it lives. A process that is not a node of a
 * cluster has no address and no lock.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    alter table nodes
      drop constraint nodes_pkey,
      alter column address drop not null,
      alter column lock_seconds drop not null,
      add column id uuid not null default gen_random_uuid(),
      add column heard_at timestamptz not null default now()`
  yield* sql`alter table nodes add primary key (id), add unique (address)`
})
