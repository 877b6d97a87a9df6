/** Lists of archived records, each with its own order and search, and cursors that only this installation can make. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The key for the digests of cursors, on every node.
  yield* sql`insert into server_secrets (name, secret) values ('cursors', ${randomBytes(32)})`

  // Over archived rows only, so that writes of live rows cost the same as before. One order, the default, has an
  // index. For any other order a tenant's archived rows are sorted.
  for (const [table, text] of [
    ["audiences", "name"],
    ["experience_pages", "title || ' ' || slug"],
    ["experiences", "name"],
    ["mechanisms", "configuration ->> 'name'"],
    ["media_assets", "name"],
    ["product_variants", "coalesce(sku, '')"],
    ["products", "name || E'\\n' || coalesce(record ->> 'handle', '')"],
    ["sequences", "name"],
    ["sync_sources", "sync_source || E'\\n' || sync_source_id"],
    ["variant_options", "name"]
  ] as const) {
    yield* sql`
      create index ${sql(`${table}_archived_by_age`)} on ${sql(table)} (organization_id, mode, created_at, id)
      where archived`
    yield* sql`
      create index ${sql(`${table}_archived_search`)} on ${sql(table)}
      using gin (search_pieces(organization_id, mode, ${sql.literal(text)})) where archived`
  }
  // Restoring a product looks up the records that were archived with it.
  yield* sql`
    create index product_variants_archived_of_products on product_variants (product_id, created_at, id) where archived`

  // Their search already has an index, except for the columns that name one record.
  yield* sql`
    create index consumers_archived_by_age on consumers (organization_id, mode, created_at, id) where archived`
  yield* sql`
    create index consumers_archived_by_external_id on consumers (organization_id, mode, external_id)
    where archived and external_id is not null`
})
