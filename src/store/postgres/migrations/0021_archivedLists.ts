/**
 * Lists of archived records, each with an order and a search of its own, and cursors that nobody else can make.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Keys the digests of cursors, on every node.
  yield* sql`insert into server_secrets (name, secret) values ('cursors', ${randomBytes(32)})`

  // Over archived rows alone: what is written of live ones costs what it did. One order, the default, has an index; in any
  // other a tenant's archived rows are sorted.
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
  // What was archived with a product is looked for to be restored.
  yield* sql`
    create index product_variants_archived_of_products on product_variants (product_id, created_at, id) where archived`

  // Their search has an index already, but for what names one of them.
  yield* sql`
    create index consumers_archived_by_age on consumers (organization_id, mode, created_at, id) where archived`
  yield* sql`
    create index consumers_archived_by_external_id on consumers (organization_id, mode, external_id)
    where archived and external_id is not null`
})
