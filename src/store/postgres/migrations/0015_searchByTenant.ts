/**
 * A search reads only its own tenant's rows. Each part of a text carries the mark of its tenant, so other tenants'
 * rows cost nothing.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Two tenants with the same mark would only share index entries; a list still filters by tenant. The mark and the
  // lower case are computed once. This takes some 0.03 ms, so that the planner prefers an index. The function calls
  // nothing of Usher's own, because an index is built without a search path.
  yield* sql`
    create function search_pieces(organization_id uuid, mode text, value text) returns text[]
    language sql immutable strict parallel safe cost 5000 as $$
      select array(
        select mark || substr(text, start, size)
        from (
            select lower(value) as text, right(organization_id::text, 8) || left(mode, 1) as mark offset 0
          ) as marked,
          generate_series(2, 3) as size, generate_series(1, length(text) - size + 1) as start
      )
    $$`

  for (const [index, table, text, part, options = "fastupdate = on"] of [
    ["audiences_search", "audiences", "name", "not archived"],
    ["consumers_search", "consumers", "searched", "not anonymous and not archived"],
    ["consumers_search_archived", "consumers", "searched", "not anonymous and archived"],
    ["experience_pages_search", "experience_pages", "title || ' ' || slug", "not archived", "fastupdate = off"],
    ["experiences_search", "experiences", "name", "not archived"],
    ["mechanisms_search", "mechanisms", "configuration ->> 'name'", "not archived"],
    ["media_assets_searched", "media_assets", "name", "not archived"],
    ["orders_search", "orders", "coalesce(external_id, '') || ' ' || coalesce(number, '')", "true"],
    ["product_variants_searched", "product_variants", "coalesce(sku, '')", "not archived"],
    ["products_searched", "products", "name || E'\\n' || coalesce(record ->> 'handle', '')", "not archived"],
    ["sequences_search", "sequences", "name", "not archived"],
    ["sync_sources_searched", "sync_sources", "sync_source || E'\\n' || sync_source_id", "not archived"],
    ["variant_options_by_search", "variant_options", "name", "not archived"]
  ] as const) {
    yield* sql`drop index ${sql(index)}`
    yield* sql`
      create index ${sql(index)} on ${sql(table)}
      using gin (search_pieces(organization_id, mode, ${sql.literal(text)})) with (${sql.literal(options)})
      where ${sql.literal(part)}`
  }
  yield* sql`drop function search_pieces(text)`
})
