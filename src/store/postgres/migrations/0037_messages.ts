/**
 * The columns of messages and stopped addresses for the Admin API: ids, and of a message its address, its purpose and
 * its consumer. Messages that were sent before this step have no id and are not listed. Those that a former release
 * sends meanwhile have only an id.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { ConcurrentIndex } from "../ConcurrentIndexes.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A default that is set afterwards rewrites no row.
  yield* sql`
    alter table sent_messages
      add column id uuid,
      add column address text,
      add column purpose text,
      add column consumer_id uuid`
  yield* sql`alter table sent_messages alter column id set default gen_random_uuid()`

  yield* sql`alter table stopped_addresses add column id uuid`
  yield* sql`alter table stopped_addresses alter column id set default gen_random_uuid()`
  yield* sql`update stopped_addresses set id = gen_random_uuid()`
  yield* sql`create unique index stopped_addresses_by_id on stopped_addresses (id)`
  yield* sql`
    create index stopped_addresses_by_time on stopped_addresses (organization_id, mode, stopped_at, id)`
})

/** The indexes of `sent_messages`, which may be large. */
export const indexes: ReadonlyArray<ConcurrentIndex> = [
  { name: "sent_messages_by_id", definition: "on sent_messages (id) where id is not null" },
  {
    name: "sent_messages_by_time",
    definition: "on sent_messages (organization_id, mode, sent_at, id) where id is not null"
  },
  {
    name: "sent_messages_by_address",
    definition: "on sent_messages (organization_id, mode, address) where address is not null"
  },
  {
    name: "sent_messages_by_consumer",
    definition: "on sent_messages (consumer_id) where consumer_id is not null"
  }
]
