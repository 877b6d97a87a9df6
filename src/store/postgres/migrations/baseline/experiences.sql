-- Experiences with their sequences, products and pages, and who has entered them.

-- `activated_at` and `completed_at`: when webhooks got the opening and the closing.
create table experiences (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  name text not null,
  record jsonb not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  access_code_hash bytea,
  window_revision int not null default 0,
  activated_at timestamptz,
  completed_at timestamptz
);
create index experiences_archived_by_age on experiences (organization_id, mode, created_at, id) where archived;
create index experiences_by_name on experiences (organization_id, mode, name, id);
create index experiences_by_tenant on experiences (organization_id, mode, created_at, id);
create index experiences_challenge on experiences (organization_id) where record ? 'challenge';
-- Only few rows match, and each process caches their sequences.
create index experiences_protected on experiences (id) where (not archived) and (access_code_hash is not null);
create index experiences_unfinished on experiences (id) where (not archived) and ((activated_at is null) or (completed_at is null));

-- Loads of rooms that were answered, by the minute.
create table room_visits (
  organization_id uuid not null references organizations,
  mode text not null,
  experience_id uuid not null references experiences,
  at timestamptz not null,
  visits int not null,
  primary key (organization_id, mode, experience_id, at)
);

create table sequences (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  experience_id uuid not null references experiences,
  name text not null,
  record jsonb not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  audience_id uuid references audiences,
  access_code_hash bytea,
  order_limit int generated always as (((record ->> 'orderLimitPerConsumer'))::int) stored
);
create index sequences_archived_by_age on sequences (organization_id, mode, created_at, id) where archived;
create index sequences_by_audience on sequences (audience_id) where audience_id is not null;
create index sequences_by_experience on sequences (experience_id, id);
create index sequences_by_name on sequences (organization_id, mode, name, id) where not archived;
create index sequences_by_priority on sequences (organization_id, mode, (((record -> 'priority'))::bigint), id) where not archived;
create index sequences_by_tenant on sequences (organization_id, mode, created_at, id);
-- Only few rows match, and each process caches them all.
create index sequences_protected on sequences (id) where (not archived) and ((audience_id is not null) or (access_code_hash is not null) or (order_limit is not null));

create table experience_products (
  id uuid primary key,
  organization_id uuid not null,
  experience_id uuid not null references experiences,
  product_id uuid not null references products,
  product_variant_id uuid references product_variants,
  position int not null
);
create index experience_products_of_experiences on experience_products (experience_id, position, id);
create index experience_products_of_products on experience_products (product_id);

create table experience_pages (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  experience_id uuid not null references experiences,
  slug text not null,
  title text not null,
  status text not null check (status in ('DRAFT', 'PUBLISHED')),
  creative_document jsonb not null,
  record jsonb not null,
  published_at timestamptz,
  last_published_at timestamptz,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  document_bytes int not null generated always as (octet_length((creative_document)::text)) stored
);
create index experience_pages_archived_by_age on experience_pages (organization_id, mode, created_at, id) where archived;
create index experience_pages_by_status on experience_pages (organization_id, mode, status, created_at, id) where not archived;
create index experience_pages_by_tenant on experience_pages (organization_id, mode, created_at, id) where not archived;
create index experience_pages_by_title on experience_pages (organization_id, mode, title, id) where not archived;
create index experience_pages_by_update on experience_pages (organization_id, mode, updated_at, id) where not archived;
create index experience_pages_of_experiences on experience_pages (experience_id, created_at, id);
-- A request for an experience's page without a slug gets the page that was published last.
create index experience_pages_shown on experience_pages (experience_id, last_published_at, id) where (status = 'PUBLISHED') and (not archived) and ((creative_document ->> 'kind') = 'experience-page');
-- An archived page releases its slug.
create unique index experience_pages_slugs on experience_pages (experience_id, slug) where not archived;

create table experience_entries (
  experience_id uuid not null references experiences,
  consumer_id uuid not null,
  entered_at timestamptz not null,
  primary key (experience_id, consumer_id)
);

-- The consumers who have presented an experience's access code.
create table experience_passes (
  experience_id uuid not null references experiences,
  consumer_id uuid not null,
  passed_at timestamptz not null,
  primary key (experience_id, consumer_id)
);

-- The consumers who have presented a sequence's access code.
create table sequence_passes (
  sequence_id uuid not null references sequences,
  consumer_id uuid not null,
  passed_at timestamptz not null,
  primary key (sequence_id, consumer_id)
);
