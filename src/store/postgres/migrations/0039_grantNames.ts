/**
 * The secret that makes names of grants impossible to guess. A new installation uses it from its first grant on. In an
 * older one, processes of the former release still name grants without it until they are replaced, so it is used from
 * a day later on. `valid_from` null: from the first grant on.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`alter table server_secrets add column valid_from timestamptz`
  yield* sql`
    insert into server_secrets (name, secret, valid_from)
    select 'grant_names', ${randomBytes(32)},
      case when exists (select from mechanisms) then clock_timestamp() + interval '1 day' end`
})
