-- Mechanisms: record, head, journal, places; archives of journals; orders.

create table mechanisms (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  -- Null of a stock alone, which belongs to no experience.
  experience_id uuid references experiences,
  sequence_id uuid references sequences,
  kind text not null,
  configuration jsonb not null,
  status_override text,
  status_override_at timestamptz,
  status_override_by text,
  teardown_status text,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  check (kind = 'stock' or (experience_id is not null and sequence_id is not null))
);
create index mechanisms_archived_by_age on mechanisms (organization_id, mode, created_at, id) where archived;
-- A consumer's places are looked up in each of these, so `places` needs no index by consumer.
create index mechanisms_at_work on mechanisms (organization_id, mode) where (not archived) and (teardown_status is distinct from 'completed');
create index mechanisms_by_age on mechanisms (organization_id, mode, created_at, id);
create index mechanisms_by_experience on mechanisms (experience_id);
create index mechanisms_by_name on mechanisms (organization_id, mode, ((configuration ->> 'name')), id) where not archived;
create index mechanisms_by_sequence on mechanisms (sequence_id);
create index mechanisms_by_tenant on mechanisms (organization_id, mode, kind, created_at, id);

-- One narrow row a mechanism, rewritten with every commit. Room on the page keeps the rewrite in place (HOT). For the
-- same reason `wake_at` has no index. `epoch` is the number of an ownership: a commit of an earlier one is refused.
create table mechanism_heads (
  mechanism_id uuid primary key references mechanisms,
  sequence bigint not null,
  wake_at timestamptz,
  epoch int not null default 0,
  format_version int not null default 1
) with (fillfactor = 50);

create table journal (
  mechanism_id uuid not null,
  sequence bigint not null,
  at timestamptz not null,
  type text not null,
  consumer_id uuid,
  data jsonb,
  primary key (mechanism_id, sequence)
);
create index journal_by_confirmation_code on journal (mechanism_id, ((data ->> 'confirmationCode'))) where type = 'Booked';
create index journal_by_ended_grant on journal (mechanism_id, at, sequence) where type in ('Left', 'Denied', 'Completed', 'Expired') and ((data -> 'grant') is not null);
create index journal_by_time_and_type on journal using brin (at, type text_bloom_ops) with (pages_per_range = 32, autosummarize = on);

create table places (
  mechanism_id uuid not null,
  consumer_id uuid not null,
  status text not null,
  entered_at timestamptz not null,
  updated_at timestamptz not null,
  fields jsonb,
  bid_order numeric generated always as ((fields ->> 'bidOrder')::numeric) stored,
  start_time text collate "C" generated always as (fields ->> 'startTime') stored,
  primary key (mechanism_id, consumer_id)
) with (fillfactor = 80);
-- For pages of a mechanism's consumers in the order of entry. The index grows at its right edge, and its columns change
-- only on re-entry. So it costs an entry little, and a change of status nothing while the row stays on its page.
create index places_by_entry on places (mechanism_id, entered_at, consumer_id);
-- For bids as they would win, and bookings by their slots. Both columns are null in other kinds, so a change of `fields`
-- there still stays on its page. An index on an expression of `fields` would prevent that.
create index places_by_bid on places (mechanism_id, bid_order, consumer_id) where bid_order is not null;
create index places_by_start on places (mechanism_id, start_time, consumer_id) where start_time is not null;

-- Up to which event the places of a mechanism are written. A table of its own: an append, which advances the head, never
-- waits for it.
create table place_projections (
  mechanism_id uuid primary key references mechanisms,
  sequence bigint not null
) with (fillfactor = 50);

create table parked_mechanisms (
  mechanism_id uuid primary key references mechanisms,
  node text not null,
  parked_at timestamptz not null,
  restarts int not null,
  cause text not null
);

-- `month` is its first day. `removed_at` is null while the rows are still being removed from the database.
create table archives (
  id uuid primary key,
  month date not null,
  file text not null,
  manifest_sha256 text not null,
  mechanisms int not null,
  events bigint not null,
  places bigint not null,
  made_at timestamptz not null,
  removed_at timestamptz
);

create table archived_journals (
  mechanism_id uuid primary key references mechanisms,
  archive_id uuid not null references archives
);
create index archived_journals_by_archive on archived_journals (archive_id, mechanism_id);

-- `taken_units` by variant and `stock_units` by stock are returned when the order is cancelled. `grant_sequence` is that of the event
-- that made the grant; null for orders of bookings. `payment_id` is the provider's, which a refund names.
create table orders (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  consumer_id uuid not null references consumers,
  experience_id uuid references experiences,
  sequence_id uuid references sequences,
  distribution_id uuid references mechanisms,
  distribution_type text,
  external_id text,
  number text,
  status text not null check (status in ('CREATED', 'PAID', 'FULFILLED', 'CANCELLED')),
  currency_code text not null,
  total numeric(20,8) not null,
  record jsonb not null,
  placed_at timestamptz not null,
  paid_at timestamptz,
  fulfilled_at timestamptz,
  cancelled_at timestamptz,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  taken_units jsonb not null default '{}',
  grant_sequence bigint,
  payment_id text,
  grant_lapsed boolean not null default false,
  stock_units jsonb not null default '{}'
);
create index orders_by_cancelled_at on orders (organization_id, mode, cancelled_at) where cancelled_at is not null;
create unique index orders_by_external_id on orders (organization_id, mode, external_id) where external_id is not null;
create index orders_by_fulfilled_at on orders (organization_id, mode, fulfilled_at) where fulfilled_at is not null;
create unique index orders_by_grant on orders (distribution_id, grant_sequence) where (grant_sequence is not null) and (status <> 'CANCELLED');
create index orders_by_paid_at on orders (organization_id, mode, paid_at) where paid_at is not null;
create index orders_by_payment on orders (organization_id, mode, payment_id) where payment_id is not null;
create index orders_by_status on orders (organization_id, mode, status, created_at, id);
create index orders_by_tenant on orders (organization_id, mode, created_at, id);
create index orders_by_total on orders (organization_id, mode, total, id);
create index orders_by_update on orders (organization_id, mode, updated_at, id);
-- Orders that count: a consumer's latest, and how many it has in a sequence.
create index orders_counted on orders (consumer_id, placed_at) where status <> 'CANCELLED';
create index orders_in_sequences on orders (sequence_id, consumer_id) where status <> 'CANCELLED';
create index orders_of_consumers on orders (consumer_id, created_at, id);
create index orders_of_distributions on orders (distribution_id, created_at, id);
create index orders_of_experiences on orders (experience_id, created_at, id);

-- The variants of stocks. A variant belongs to one stock at most that is not archived.
create table stock_variants (
  variant_id uuid primary key references product_variants,
  stock_id uuid not null references mechanisms
);
create index stock_variants_by_stock on stock_variants (stock_id);

-- What stocks have yet to learn of orders: units that come back, or without `units`, that an order was not written. An
-- order that takes units has such a row from before it is counted until it is written.
create table stock_messages (
  id text primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  stock_id uuid not null references mechanisms,
  units int,
  due_at timestamptz not null
);
create index stock_messages_by_time on stock_messages (due_at);
