/**
 * Products that the system picks for consumers: the secret that keeps picks from being foretold, and word to every process
 * of whatever changes what it remembers to pick from.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`insert into server_secrets (name, secret) values ('assigned_products', ${randomBytes(32)})`

  // Names the organization whose sequences, products or variants changed, as the catalogue's word does.
  yield* sql`
    create function tell_assigned() returns trigger language plpgsql as $$
    begin
      perform pg_notify('usher_invalidations', 'assigned:' || coalesce(new.organization_id, old.organization_id));
      return null;
    end $$`

  // Nothing is picked in a sequence before it has been created, or from a product; a variant may come later.
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
