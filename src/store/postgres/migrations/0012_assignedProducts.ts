/**
 * Products that the system assigns to consumers: the secret that makes assignments unpredictable, and notifications
 * of changes to the data that each process caches for them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`insert into server_secrets (name, secret) values ('assigned_products', ${randomBytes(32)})`

  // Notifies processes of the organization whose sequences, products or variants changed, like the notification of
  // the catalogue.
  yield* sql`
    create function tell_assigned() returns trigger language plpgsql as $$
    begin
      perform pg_notify('usher_invalidations', 'assigned:' || coalesce(new.organization_id, old.organization_id));
      return null;
    end $$`

  // A new sequence or product has no assignments yet, so its insert needs no notification. A variant may be added
  // later.
  yield* sql`
    create trigger sequences_assigned after update of record on sequences
    for each row when (old.record is distinct from new.record) execute function tell_assigned()`
  yield* sql`
    create trigger products_assigned after update of archived on products
    for each row when (old.archived is distinct from new.archived) execute function tell_assigned()`
  yield* sql`
    create trigger variants_assigned after insert or delete or update of archived, product_id on product_variants
    for each row execute function tell_assigned()`
})
