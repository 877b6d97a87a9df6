/**
 * Several processes on one database: the epoch of each mechanism, the parked mechanisms, the processes themselves,
 * and the secret by which they authenticate each other.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`alter table mechanism_heads add column reign int4 not null default 0`

  yield* sql`
    create table parked_mechanisms (
      mechanism_id uuid primary key references mechanisms,
      node text not null,
      parked_at timestamptz not null,
      restarts int4 not null,
      cause text not null
    )`

  yield* sql`
    create table nodes (
      address text primary key,
      name text not null,
      schema_step int4 not null,
      lock_seconds int4 not null,
      started_at timestamptz not null,
      mechanisms int4 not null default 0
    )`

  yield* sql`insert into server_secrets (name, secret) values ('nodes', ${randomBytes(32)})`
})
