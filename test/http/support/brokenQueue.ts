/** A queue whose journal cannot be read, as after a defect, and its correction. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../../src/domain/values/Ids.ts"

const configuration = {
  name: "Broken",
  timeZone: "UTC",
  supportsGuest: true,
  admitRate: 0,
  recycleExpiredAdmissions: false,
  loyaltyBiasEnabled: false,
  loyaltyHeadStartSeconds: 60
}

/** Stores a queue with one consumer, whose entry cannot be read. The first request for the queue parks it. */
export const storeBrokenQueue = Effect.fnUntraced(function* (
  { organizationId, mode }: Tenant,
  { experienceId, sequenceId }: { readonly experienceId: string; readonly sequenceId: string }
) {
  const sql = yield* SqlClient.SqlClient
  const [id, consumerId] = [randomUUID(), randomUUID()]
  const settings = JSON.stringify(configuration)
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`
        insert into mechanisms (id, organization_id, mode, experience_id, sequence_id, kind, configuration,
          created_at, created_by, updated_at, updated_by)
        values (${id}, ${organizationId}, ${mode}, ${experienceId}, ${sequenceId}, 'queue', ${settings}::text::jsonb,
          now(), 'x', now(), 'x')`
      yield* sql`insert into mechanism_heads (mechanism_id, sequence, wake_at) values (${id}, 2, null)`
      yield* sql`insert into place_projections (mechanism_id, sequence) values (${id}, 2)`
      yield* sql`
        insert into journal (mechanism_id, sequence, at, type, consumer_id, data)
        values (${id}, 1, now(), 'Configured', null, ${JSON.stringify({ configuration, by: "x" })}::text::jsonb),
          (${id}, 2, now(), 'Gibberish', ${consumerId}, null)`
      yield* sql`
        insert into places (mechanism_id, consumer_id, status, entered_at, updated_at)
        values (${id}, ${consumerId}, 'QUEUED', now(), now())`
    })
  )
  return { id, consumerId }
})

/** Corrects the journal of a broken queue. */
export const correct = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update journal set type = 'Entered' where mechanism_id = ${id} and type = 'Gibberish'`
})
