/**
 * Experiences with an access code, the consumers who have presented it, and notifications of changes to the products
 * that each process caches for experiences.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`alter table experiences add column access_code_hash bytea`
  // Only few rows match, and each process caches their sequences.
  yield* sql`
    create index experiences_protected on experiences (id) where not archived and access_code_hash is not null`

  // The consumers who have presented an experience's access code.
  yield* sql`
    create table experience_passes (
      experience_id uuid not null references experiences,
      consumer_id uuid not null,
      passed_at timestamptz not null,
      primary key (experience_id, consumer_id)
    )`

  // Notifies processes of the organization whose catalogue changed. The database itself sends this, so that no writer
  // can forget it. A transaction that changes many rows sends it once.
  yield* sql`
    create function tell_catalogue() returns trigger language plpgsql as $$
    begin
      perform pg_notify('usher_invalidations', 'catalogue:' || coalesce(new.organization_id, old.organization_id));
      return null;
    end $$`
  yield* sql`
    create function tell_catalogue_of_product() returns trigger language plpgsql as $$
    begin
      perform pg_notify('usher_invalidations', 'catalogue:' || organization_id)
      from products where id = coalesce(new.product_id, old.product_id);
      return null;
    end $$`
  yield* sql`
    create function tell_catalogue_of_variant() returns trigger language plpgsql as $$
    begin
      perform pg_notify('usher_invalidations', 'catalogue:' || organization_id)
      from product_variants where id = coalesce(new.product_variant_id, old.product_variant_id);
      return null;
    end $$`

  for (const [table, changes, notify] of [
    ["experience_products", "insert or update or delete", "tell_catalogue"],
    ["product_variants", "insert or update or delete", "tell_catalogue"],
    ["products", "update or delete", "tell_catalogue"],
    ["sync_sources", "update or delete", "tell_catalogue"],
    ["media_assets", "update or delete", "tell_catalogue"],
    ["variant_options", "update or delete", "tell_catalogue"],
    ["variant_option_values", "update or delete", "tell_catalogue"],
    ["product_media_assets", "insert or update or delete", "tell_catalogue_of_product"],
    ["product_variant_options", "insert or update or delete", "tell_catalogue_of_variant"]
  ] as const) {
    yield* sql`
      create trigger ${sql.literal(`${table}_told`)} after ${sql.literal(changes)} on ${sql.literal(table)}
      for each row execute function ${sql.literal(notify)}()`
  }
})
