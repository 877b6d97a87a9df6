-- Consumers: their accounts, sessions, codes, attempts, and the audiences they belong to.

-- One spelling of a mailbox. The providers document it: Gmail ignores dots and the part after a plus; the others ignore
-- the part after a plus.
create function mailbox_of(email text) returns text language sql immutable parallel safe as $$
  select case
    when host in ('gmail.com', 'googlemail.com') then replace(name, '.', '') || '@gmail.com'
    when host in (
      'outlook.com', 'hotmail.com', 'live.com', 'icloud.com', 'me.com', 'mac.com', 'fastmail.com', 'proton.me',
      'protonmail.com', 'pm.me'
    ) then name || '@' || host
  end
  from (
    select split_part(split_part(lower(email), '@', 1), '+', 1) as name, split_part(lower(email), '@', 2) as host
  ) parts
  where name <> ''
$$;

-- `created_by` is null for a consumer who created itself, and `updated_at` for one that was never changed. A guest without
-- data is `anonymous`: there are hundreds of thousands, and only one index contains them. `order_totals` are by currency;
-- `total_order_value` is in the organization's own. An address is proved if it equals `proved_email` or `proved_phone`.
-- `search_text` is what a search reads if it differs from `searched`, as it seldom does.
create table consumers (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  type text not null check (type in ('guest', 'authenticated')),
  email text,
  phone text,
  full_name text,
  external_id text,
  loyalty_balance numeric(20,8) not null default 0,
  created_at timestamptz not null,
  archived boolean not null default false,
  name text,
  attributes jsonb,
  metadata jsonb,
  order_count int not null default 0,
  total_order_value numeric(30,8) not null default 0,
  last_order_at timestamptz,
  created_by text,
  updated_at timestamptz,
  updated_by text,
  anonymous boolean not null generated always as (
    type = 'guest' and email is null and phone is null and full_name is null and external_id is null
    and order_count = 0 and total_order_value = 0 and last_order_at is null
  ) stored,
  searched text not null generated always as (
    lower(coalesce(email, '') || ' ' || coalesce(phone, '') || ' ' || coalesce(full_name, ''))
  ) stored,
  order_totals jsonb not null default '{}',
  proved_email text,
  proved_phone text,
  erased_at timestamptz,
  search_text text
);
create index consumers_anonymous on consumers (organization_id, mode, created_at, id) where anonymous and (not archived);
-- Archived consumers whose access tokens may still be valid: each process caches them.
create index consumers_archived on consumers (updated_at) where archived;
create index consumers_archived_by_age on consumers (organization_id, mode, created_at, id) where archived;
create index consumers_archived_by_external_id on consumers (organization_id, mode, external_id) where archived and (external_id is not null);
create unique index consumers_by_email on consumers (organization_id, mode, email) where (type = 'authenticated') and (not archived) and (email is not null);
create unique index consumers_by_external_id on consumers (organization_id, mode, external_id) where (not archived) and (external_id is not null);
create index consumers_by_mailbox on consumers (organization_id, mode, mailbox_of(email)) where (type = 'authenticated') and (not archived) and (mailbox_of(email) is not null);
create unique index consumers_by_phone on consumers (organization_id, mode, phone) where (type = 'authenticated') and (not archived) and (phone is not null);
create index consumers_known_by_age on consumers (organization_id, mode, type, created_at, id) where (not anonymous) and (not archived);
create index consumers_known_by_email on consumers (organization_id, mode, type, coalesce(email, ''), created_at, id) where (not anonymous) and (not archived);
create index consumers_known_by_full_name on consumers (organization_id, mode, type, coalesce(full_name, ''), created_at, id) where (not anonymous) and (not archived);
create index consumers_known_by_last_order on consumers (organization_id, mode, type, coalesce(last_order_at, '-infinity'::timestamptz), created_at, id) where (not anonymous) and (not archived);
create index consumers_known_by_total_order_value on consumers (organization_id, mode, type, total_order_value, created_at, id) where (not anonymous) and (not archived);

-- It stays when the consumer's row is removed, so that a restored backup can be erased again.
create table erasures (
  consumer_id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  erased_at timestamptz not null,
  erased_by text not null
);
create index erasures_by_time on erasures (erased_at);

create table external_identities (
  organization_id uuid not null references organizations,
  mode text not null,
  provider text not null,
  issuer text not null,
  subject text not null,
  consumer_id uuid not null references consumers deferrable initially deferred,
  created_at timestamptz not null,
  primary key (organization_id, mode, provider, issuer, subject)
);
create index external_identities_of_consumers on external_identities (consumer_id);

-- A session is a family of refresh tokens, and stores the current one. Until `access_expires_at`, access tokens of the
-- session may be valid. `former_*` is the token that the last refresh replaced (auth/sessions/Sessions.ts).
create table sessions (
  id uuid primary key,
  consumer_id uuid not null,
  organization_id uuid not null,
  mode text not null,
  type text not null,
  refresh_hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  access_expires_at timestamptz not null,
  replaced_hash bytea,
  refreshed_at timestamptz,
  successor_salt bytea
);
-- Includes guests, so that their sessions can be listed and ended.
create index sessions_by_consumer on sessions (consumer_id);
-- Rows are written in the order in which they expire, so the smallest kind of index finds expired rows.
create index sessions_by_expiry on sessions using brin (expires_at);
create index sessions_revoked on sessions (access_expires_at) where revoked_at is not null;

create table exchange_codes (
  hash bytea primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  consumer_id uuid not null,
  expires_at timestamptz not null,
  used_at timestamptz
);

-- One row for each request. `client` is a digest of the client's address. `sent_at` holds the times of its messages.
create table one_time_codes (
  id uuid primary key,
  organization_id uuid not null,
  mode text not null,
  channel text not null,
  address text not null,
  client bytea not null,
  hash bytea not null,
  tries int not null default 0,
  unbound_tries int not null default 0,
  sent_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  digits smallint not null default 6,
  constraint one_time_codes_of_channel check (channel in ('email', 'phone', 'operator')),
  foreign key (organization_id) references organizations
) with (fillfactor = 80);
create index one_time_codes_by_address on one_time_codes (organization_id, mode, channel, address, sent_at desc);
create index one_time_codes_by_expiry on one_time_codes using brin (expires_at);

-- `subject` and `client` are digests: of the limited subject, and of the client's address.
create table attempts (
  organization_id uuid not null references organizations,
  mode text not null,
  limit_name text not null,
  subject bytea not null,
  client bytea not null,
  count int not null,
  ends_at timestamptz not null,
  primary key (organization_id, mode, limit_name, subject, client)
) with (fillfactor = 70);
create index attempts_by_end on attempts (ends_at);

create table spent_challenges (
  id text primary key,
  expires_at timestamptz not null
);
create index spent_challenges_expired on spent_challenges (expires_at);

-- `rules` are those of an audience of type DYNAMIC. Its members are never stored.
create table audiences (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  name text not null,
  type text not null check (type in ('STATIC', 'DYNAMIC')),
  member_count bigint not null default 0,
  last_refreshed_at timestamptz,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  rules jsonb,
  constraint audiences_rules check ((type = 'DYNAMIC') = (rules is not null))
) with (fillfactor = 80);
create index audiences_archived_by_age on audiences (organization_id, mode, created_at, id) where archived;
create index audiences_by_name on audiences (organization_id, mode, name, id) where not archived;
create index audiences_by_refresh on audiences (organization_id, mode, coalesce(last_refreshed_at, '-infinity'::timestamptz), id) where not archived;
create index audiences_by_tenant on audiences (organization_id, mode, created_at, id);

create table audience_members (
  audience_id uuid not null references audiences,
  consumer_id uuid not null references consumers,
  added_at timestamptz not null,
  primary key (audience_id, consumer_id)
);
create index audience_members_by_age on audience_members (audience_id, added_at, consumer_id);
