/**
 * One order for each grant, and the index that finds the grants that ended before their time. Only events that end a
 * grant are in it, so an entry or a grant costs nothing more.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The sequence of the event that made the grant; null for orders of bookings, and from before it was recorded.
  yield* sql`alter table orders add column grant_sequence bigint`
  yield* sql`
    create unique index orders_by_grant on orders (distribution_id, grant_sequence)
    where grant_sequence is not null and status <> 'CANCELLED'`
  yield* sql`
    create index journal_by_ended_grant on journal (mechanism_id, at, sequence)
    where type in ('Left', 'Denied', 'Completed') and (data -> 'grant') is not null`
})
