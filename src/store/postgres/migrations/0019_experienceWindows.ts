/**
 * Experiences count the changes of their own opening and closing, so that each mechanism can tell which it has been told.
 * Those that have a window already begin with 1: a mechanism that was created before has not been told, and is when the
 * experience is changed next.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`alter table experiences add column window_revision int not null default 0`
  yield* sql`update experiences set window_revision = 1 where record ? 'openAt' or record ? 'closeAt'`
})
