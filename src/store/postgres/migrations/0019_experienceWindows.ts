/**
 * Experiences count the changes of their own window, so that each mechanism can compare the number it knows.
 * Experiences that already have a window start with 1. Their existing mechanisms know no number, and are notified
 * when the experience changes next.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`alter table experiences add column window_revision int not null default 0`
  yield* sql`update experiences set window_revision = 1 where record ? 'openAt' or record ? 'closeAt'`
})
