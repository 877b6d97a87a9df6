-- The installation and its processes, and what they share.

-- One row: which timeline the database is on, whether it is on hold after a restore (`held_at`: the instant of the
-- backup), when it was last backed up. Programs that know at least the step `schema_base` may use the schema.
-- `former_at` is when a process of a former release was last seen during an upgrade.
create table installation (
  is_only boolean primary key default true check (is_only),
  timeline uuid not null,
  held_at timestamptz,
  backup_at timestamptz,
  format_version int not null default 1,
  schema_base int not null default 1,
  former_at timestamptz
);

create table nodes (
  address text unique,
  name text not null,
  lock_seconds int,
  started_at timestamptz not null,
  mechanisms int not null default 0,
  id uuid primary key default gen_random_uuid(),
  heard_at timestamptz not null default now(),
  release jsonb not null
);

create table leases (
  name text primary key,
  owner uuid not null,
  held_until timestamptz not null
);

-- Without a status the request is in progress, in the process that has claimed it, until its lease ends.
create table idempotency_keys (
  organization_id uuid not null references organizations,
  mode text not null,
  key text not null,
  fingerprint bytea not null,
  claim_id uuid not null,
  lease_until timestamptz not null,
  status int,
  content_type text,
  body bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  sealed_body bytea,
  sealed_by text,
  primary key (organization_id, mode, key)
);
-- Rows are written in the order in which they expire, so the smallest kind of index finds expired rows.
create index idempotency_keys_by_expiry on idempotency_keys using brin (expires_at);

create table security_events (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  type text not null,
  consumer_id uuid,
  client_address text,
  details jsonb not null,
  count bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  bucket timestamptz not null,
  fingerprint bytea not null,
  unique (organization_id, mode, bucket, fingerprint)
) with (fillfactor = 80);
create index security_events_by_consumer on security_events (organization_id, mode, consumer_id, first_at, id) where consumer_id is not null;
create index security_events_by_time on security_events (organization_id, mode, first_at, id);
create index security_events_by_type on security_events (organization_id, mode, type, first_at, id);
