-- The catalogue: products with variants, options, media and where they come from.

create table sync_sources (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  record jsonb not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  sync_source text not null,
  sync_source_id text not null
);
create index sync_sources_archived_by_age on sync_sources (organization_id, mode, created_at, id) where archived;
create index sync_sources_by_status on sync_sources (organization_id, mode, ((record ->> 'syncStatus')), created_at, id) where not archived;
create index sync_sources_by_tenant on sync_sources (organization_id, mode, created_at, id) where not archived;

create table media_assets (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  record jsonb not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  name text not null
);
create index media_assets_archived_by_age on media_assets (organization_id, mode, created_at, id) where archived;
create index media_assets_by_name on media_assets (organization_id, mode, name, id) where not archived;
create index media_assets_by_tenant on media_assets (organization_id, mode, created_at, id) where not archived;

-- Uploaded pictures, decoded and encoded again.
create table pictures (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  content_type text not null,
  width int not null,
  height int not null,
  size int not null,
  bytes bytea not null,
  created_at timestamptz not null,
  created_by text not null
);
create index pictures_by_tenant on pictures (organization_id, mode, created_at, id);

-- Uploaded fonts.
create table fonts (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  size int not null,
  bytes bytea not null,
  created_at timestamptz not null,
  created_by text not null
);
create index fonts_by_tenant on fonts (organization_id, mode, created_at, id);

create table products (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  record jsonb not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  name text not null,
  default_variant_id uuid,
  primary_sync_source_id uuid references sync_sources
);
create index products_archived_by_age on products (organization_id, mode, created_at, id) where archived;
create index products_by_name on products (organization_id, mode, name, id) where not archived;
create index products_by_tenant on products (organization_id, mode, created_at, id) where not archived;
create index products_by_update on products (organization_id, mode, updated_at, id) where not archived;
create index products_of_sync_sources on products (primary_sync_source_id) where (primary_sync_source_id is not null) and (not archived);

create table product_variants (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  record jsonb not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  product_id uuid not null references products,
  sku text,
  primary_sync_source_id uuid references sync_sources
);
create index product_variants_archived_by_age on product_variants (organization_id, mode, created_at, id) where archived;
-- Restoring a product looks up the records that were archived with it.
create index product_variants_archived_of_products on product_variants (product_id, created_at, id) where archived;
create index product_variants_by_tenant on product_variants (organization_id, mode, created_at, id) where not archived;
create index product_variants_by_update on product_variants (organization_id, mode, updated_at, id) where not archived;
create index product_variants_of_products on product_variants (product_id, created_at, id) where not archived;
create index product_variants_of_sync_sources on product_variants (primary_sync_source_id) where (primary_sync_source_id is not null) and (not archived);

create table variant_options (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  record jsonb not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  name text not null
);
create index variant_options_archived_by_age on variant_options (organization_id, mode, created_at, id) where archived;
create index variant_options_by_name on variant_options (organization_id, mode, name, id);
create index variant_options_by_tenant on variant_options (organization_id, mode, created_at, id);

create table variant_option_values (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  record jsonb not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  option_id uuid not null references variant_options,
  value text not null,
  is_centrally_managed boolean not null,
  sort_order int not null
);
create index variant_option_values_of_options on variant_option_values (option_id, sort_order, id);

-- The value of each option that a variant has; one at most.
create table product_variant_options (
  product_variant_id uuid not null references product_variants,
  option_id uuid not null references variant_options,
  value_id uuid not null references variant_option_values,
  primary key (product_variant_id, option_id)
);
create index product_variant_options_of_values on product_variant_options (value_id);

create table product_media_assets (
  id uuid primary key,
  product_id uuid not null references products,
  media_asset_id uuid not null references media_assets,
  position int not null,
  purpose text
);
create index product_media_assets_of_media on product_media_assets (media_asset_id);
create index product_media_assets_of_products on product_media_assets (product_id, position, id);
