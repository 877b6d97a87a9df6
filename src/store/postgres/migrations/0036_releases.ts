/**
 * Releases that share a database: the release of each process, the level that the installation writes, and the highest
 * level in each journal. With this step rolling upgrades begin.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Null: a program that does not know releases.
  yield* sql`alter table nodes add column release jsonb`

  // Programs that know at least the step `schema_base` may use the schema. `former_at` is when a process of a former
  // release was last seen during an upgrade.
  yield* sql`
    alter table installation
      add column level int4 not null default 1,
      add column schema_base int4 not null default 36,
      add column former_at timestamptz`

  yield* sql`alter table mechanism_heads add column level int4 not null default 1`
})
