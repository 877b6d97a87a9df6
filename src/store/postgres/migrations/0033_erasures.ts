/**
 * The erasure of consumers: which consumer was erased, and when. The journal of the tenant tells it apart from other
 * changes.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { consumerEventFunction, consumerUpdateTrigger } from "./tenantEvents/ConsumerTriggers.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`alter table consumers add column erased_at timestamptz`
  // It stays when the consumer's row is removed, so that a restored backup can be erased again.
  yield* sql`
    create table erasures (
      consumer_id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      erased_at timestamptz not null,
      erased_by text not null
    )`
  yield* sql`create index erasures_by_time on erasures (erased_at)`
  yield* sql`${sql.literal(consumerEventFunction("erasable"))}`
  yield* sql`drop trigger consumers_update_noted on consumers`
  yield* sql`${sql.literal(consumerUpdateTrigger("erasable"))}`
})
