/** Stored secrets may be sealed. `sealed_by` names the key; null means that the value itself is stored. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`alter table server_secrets add column sealed_by text`
  yield* sql`
    alter table signing_keys
      alter column private_key drop not null,
      add column sealed_private_key bytea,
      add column sealed_by text,
      add constraint signing_keys_sealed check (
        (private_key is null) = (sealed_by is not null) and (sealed_private_key is null) = (sealed_by is null)
      )`
})
