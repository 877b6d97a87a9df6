-- Organizations: the tenants, their keys, their people and the sessions of the dashboard.

create table organizations (
  id uuid primary key,
  name text not null,
  plan text not null check (plan in ('starter', 'growth', 'enterprise')),
  settings jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz,
  updated_by text,
  challenge_secret bytea,
  challenge_secret_sealed_by text,
  constraint organizations_challenge_sealed check ((challenge_secret is not null) or (challenge_secret_sealed_by is null))
);
create index organizations_with_grant_messages on organizations (id) where (settings ->> 'grantMessages') <> 'off';

create table api_keys (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null check (mode in ('live', 'test')),
  kind text not null check (kind in ('publishable', 'secret')),
  hash bytea not null unique,
  display text not null,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create unique index api_keys_current on api_keys (organization_id, mode, kind) where revoked_at is null;

create table signing_keys (
  kid text primary key,
  private_key jsonb,
  public_key jsonb not null,
  created_at timestamptz not null,
  retired_at timestamptz,
  sealed_private_key bytea,
  sealed_by text,
  constraint signing_keys_sealed check (((private_key is null) = (sealed_by is not null)) and ((sealed_private_key is null) = (sealed_by is null)))
);

-- Keys for hashes of values that could be guessed from a plain hash, such as a six-digit code.
create table server_secrets (
  name text primary key,
  secret bytea not null,
  sealed_by text
);

create table people (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  record jsonb not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  email text not null,
  name text,
  role text not null check (role in ('viewer', 'operator', 'admin')),
  last_sign_in_at timestamptz
);
create index people_by_archived on people (organization_id, mode, created_at, id) where archived;
create unique index people_by_email on people (email, organization_id, mode) where not archived;
create index people_by_tenant on people (organization_id, mode, created_at, id) where not archived;

create table operator_sessions (
  hash bytea primary key,
  api_key_id uuid references api_keys on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  person_id uuid references people on delete cascade,
  constraint operator_sessions_of_one check (num_nonnulls(api_key_id, person_id) = 1)
);
create index operator_sessions_by_expiry on operator_sessions (expires_at);
create index operator_sessions_by_key on operator_sessions (api_key_id);
create index operator_sessions_by_person on operator_sessions (person_id);
