/**
 * The gate for bots: the secret that signs challenges, the solutions that have served where several processes share no
 * Redis, and notifications of changed rules.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`insert into server_secrets (name, secret) values ('challenges', ${randomBytes(32)})`

  yield* sql`create table spent_challenges (id text primary key, expires_at timestamptz not null)`
  yield* sql`create index spent_challenges_expired on spent_challenges (expires_at)`

  yield* sql`create index experiences_challenge on experiences (organization_id) where record ? 'challenge'`

  yield* sql`
    create function tell_challenge() returns trigger language plpgsql as $$
    begin
      perform pg_notify('usher_invalidations', 'challenge:' || case
        when tg_table_name = 'organizations' then new.id else (to_jsonb(new) ->> 'organization_id')::uuid end);
      return null;
    end $$`
  yield* sql`
    create trigger organizations_challenge after update of settings on organizations
    for each row when (old.settings -> 'challenge' is distinct from new.settings -> 'challenge')
    execute function tell_challenge()`
  yield* sql`
    create trigger experiences_challenge_made after insert on experiences
    for each row when (new.record ? 'challenge') execute function tell_challenge()`
  yield* sql`
    create trigger experiences_challenge_changed after update of record, archived on experiences
    for each row when (
      old.record -> 'challenge' is distinct from new.record -> 'challenge'
      or (old.archived is distinct from new.archived and new.record ? 'challenge')
    ) execute function tell_challenge()`
})
