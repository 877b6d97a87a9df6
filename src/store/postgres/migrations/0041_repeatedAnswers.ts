/**
 * Answers with a secret that the database stores sealed: they are kept sealed as well. Former releases read `body`
 * alone, and go on to say that such an answer is not kept.
 *
 * Experiences without dates open and close with their mechanisms. What lies in the past is not reported, so those are
 * marked here, without their events.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`alter table idempotency_keys add column sealed_body bytea, add column sealed_by text`

  yield* sql`alter table experiences disable trigger experiences_update_activated`
  yield* sql`alter table experiences disable trigger experiences_update_completed`
  yield* sql`
    update experiences e set activated_at = coalesce(e.activated_at, now()),
      completed_at = coalesce(e.completed_at, case when m.are_over and e.record ->> 'closeAt' is null then now() end)
    from (
      select experience_id, bool_and(
          status_override is not null or teardown_status is not null
          or coalesce((configuration ->> 'closeAt')::timestamptz <= now(), false)
        ) as are_over
      from mechanisms where not archived and kind <> 'waitlist' group by experience_id
      having min(coalesce((configuration ->> 'openAt')::timestamptz, created_at)) <= now()
    ) m
    where m.experience_id = e.id and not e.archived and e.activated_at is null and e.record ->> 'openAt' is null`
  yield* sql`alter table experiences enable trigger experiences_update_activated`
  yield* sql`alter table experiences enable trigger experiences_update_completed`
})
