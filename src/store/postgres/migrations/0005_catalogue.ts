/**
 * The catalogue: products with their variants, the options of variants, media assets, the external sources of
 * records, and the products that an experience and a sequence offer.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const record = sql.literal(`
    id uuid primary key,
    organization_id uuid not null references organizations,
    mode text not null,
    record jsonb not null,
    created_at timestamptz not null,
    created_by text not null,
    updated_at timestamptz not null,
    updated_by text not null,
    archived boolean not null default false`)

  yield* sql`
    create table sync_sources (${record}, sync_source text not null, sync_source_id text not null)`
  yield* sql`
    create index sync_sources_by_tenant on sync_sources (organization_id, mode, created_at, id) where not archived`
  yield* sql`
    create index sync_sources_by_status on sync_sources (organization_id, mode, (record ->> 'syncStatus'), created_at, id)
    where not archived`
  yield* sql`
    create index sync_sources_searched on sync_sources
    using gin (search_pieces(sync_source || E'\n' || sync_source_id)) where not archived`

  yield* sql`create table media_assets (${record}, name text not null)`
  yield* sql`
    create index media_assets_by_tenant on media_assets (organization_id, mode, created_at, id) where not archived`
  yield* sql`create index media_assets_by_name on media_assets (organization_id, mode, name, id) where not archived`
  yield* sql`create index media_assets_searched on media_assets using gin (search_pieces(name)) where not archived`

  yield* sql`
    create table products (
      ${record},
      name text not null,
      default_variant_id uuid,
      primary_sync_source_id uuid references sync_sources
    )`
  yield* sql`create index products_by_tenant on products (organization_id, mode, created_at, id) where not archived`
  yield* sql`create index products_by_name on products (organization_id, mode, name, id) where not archived`
  yield* sql`create index products_by_update on products (organization_id, mode, updated_at, id) where not archived`
  yield* sql`
    create index products_searched on products
    using gin (search_pieces(name || E'\n' || coalesce(record ->> 'handle', ''))) where not archived`
  yield* sql`
    create index products_of_sync_sources on products (primary_sync_source_id)
    where primary_sync_source_id is not null and not archived`

  yield* sql`
    create table product_media_assets (
      id uuid primary key,
      product_id uuid not null references products,
      media_asset_id uuid not null references media_assets,
      position int not null,
      purpose text
    )`
  yield* sql`create index product_media_assets_of_products on product_media_assets (product_id, position, id)`
  yield* sql`create index product_media_assets_of_media on product_media_assets (media_asset_id)`

  yield* sql`
    create table product_variants (
      ${record},
      product_id uuid not null references products,
      sku text,
      primary_sync_source_id uuid references sync_sources
    )`
  yield* sql`
    create index product_variants_by_tenant on product_variants (organization_id, mode, created_at, id)
    where not archived`
  yield* sql`
    create index product_variants_by_update on product_variants (organization_id, mode, updated_at, id)
    where not archived`
  yield* sql`
    create index product_variants_of_products on product_variants (product_id, created_at, id) where not archived`
  yield* sql`
    create index product_variants_searched on product_variants
    using gin (search_pieces(coalesce(sku, ''))) where not archived`
  yield* sql`
    create index product_variants_of_sync_sources on product_variants (primary_sync_source_id)
    where primary_sync_source_id is not null and not archived`

  yield* sql`create table variant_options (${record}, name text not null)`
  yield* sql`create index variant_options_by_tenant on variant_options (organization_id, mode, created_at, id)`
  yield* sql`create index variant_options_by_search on variant_options using gin (search_pieces(name))`
  yield* sql`create index variant_options_by_name on variant_options (organization_id, mode, name, id)`

  yield* sql`
    create table variant_option_values (
      ${record},
      option_id uuid not null references variant_options,
      value text not null,
      is_centrally_managed boolean not null,
      sort_order int not null
    )`
  yield* sql`create index variant_option_values_of_options on variant_option_values (option_id, sort_order, id)`

  // The value of each option that a variant has; one at most.
  yield* sql`
    create table product_variant_options (
      product_variant_id uuid not null references product_variants,
      option_id uuid not null references variant_options,
      value_id uuid not null references variant_option_values,
      primary key (product_variant_id, option_id)
    )`
  yield* sql`create index product_variant_options_of_values on product_variant_options (value_id)`

  yield* sql`
    create table experience_products (
      id uuid primary key,
      organization_id uuid not null,
      experience_id uuid not null references experiences,
      product_id uuid not null references products,
      product_variant_id uuid references product_variants,
      position int not null
    )`
  yield* sql`create index experience_products_of_experiences on experience_products (experience_id, position, id)`
  yield* sql`create index experience_products_of_products on experience_products (product_id)`
})
