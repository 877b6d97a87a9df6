/**
 * The installation: which timeline the database is on, whether it is on hold after a restore, and when it was last
 * backed up. The table has one row.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `held_at` is the instant of the backup that was restored; null: not on hold.
  yield* sql`
    create table installation (
      is_only boolean primary key default true check (is_only),
      timeline uuid not null,
      held_at timestamptz,
      backup_at timestamptz
    )`
  yield* sql`insert into installation (timeline) values (${randomUUID()})`
})
