/**
 * Indexes that find bookings by their confirmation code and by their slot, through the events that made them.
 * `places` has no such index: an index over its fields would make every change of a place rewrite every index entry
 * of its row.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create index journal_by_confirmation_code on journal (mechanism_id, (data ->> 'confirmationCode'))
    where type = 'Booked'`
  yield* sql`
    create index journal_by_slot on journal (mechanism_id, (data ->> 'startTime'))
    where type in ('Booked', 'Rescheduled')`
})
