/**
 * The archives of `usher archive`: files with the journals and places of a month whose mechanisms are all over, and
 * which mechanisms are in which. An engine never reads the journal of a mechanism that is over, so a former release works
 * next to archives.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `month` is its first day. `removed_at` is null while the rows are still being removed from the database.
  yield* sql`
    create table archives (
      id uuid primary key,
      month date not null,
      file text not null,
      manifest_sha256 text not null,
      mechanisms int4 not null,
      events int8 not null,
      places int8 not null,
      made_at timestamptz not null,
      removed_at timestamptz
    )`

  yield* sql`
    create table archived_journals (
      mechanism_id uuid primary key references mechanisms,
      archive_id uuid not null references archives
    )`
  yield* sql`create index archived_journals_by_archive on archived_journals (archive_id, mechanism_id)`
})
