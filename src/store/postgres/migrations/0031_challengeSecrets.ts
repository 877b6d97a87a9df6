/**
 * The secret keys of accounts at providers of challenges leave the settings, so that they can be sealed. The next start
 * with `SECRETS_KEY` seals them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { challengeTriggers } from "./tenantEvents/RecordTriggers.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    alter table organizations
      add column challenge_secret bytea,
      add column challenge_secret_sealed_by text,
      add constraint organizations_challenge_sealed
        check (challenge_secret is not null or challenge_secret_sealed_by is null)`
  yield* sql`
    update organizations
    set challenge_secret = convert_to(settings #>> '{challenge,secretKey}', 'UTF8'),
      settings = settings #- '{challenge,secretKey}'
    where settings #>> '{challenge,secretKey}' is not null`
  yield* sql`
    create trigger organizations_challenge_secret after update of challenge_secret on organizations
    for each row when (old.challenge_secret is distinct from new.challenge_secret)
    execute function tell_challenge()`
  for (const trigger of challengeTriggers) yield* sql`${sql.literal(trigger)}`
})
