-- Messages to consumers, receivers of what providers report, and webhooks.

create table receivers (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  record jsonb not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  adapter text not null,
  description text,
  secret bytea not null,
  secret_sealed_by text,
  former_secret bytea,
  former_secret_sealed_by text,
  former_secret_until timestamptz
);
create index receivers_by_archived on receivers (organization_id, mode, created_at, id) where archived;
create index receivers_by_tenant on receivers (organization_id, mode, created_at, id) where not archived;

-- An event is written before its provider gets an answer, and handled later. `id` orders events in lists.
create table received_events (
  receiver_id uuid not null references receivers,
  event_id text not null,
  id uuid not null,
  type text not null,
  at timestamptz not null,
  received_at timestamptz not null,
  body text not null,
  status text not null check (status in ('WAITING', 'DONE', 'IGNORED', 'NEEDS_ATTENTION', 'FAILED')),
  attempts smallint not null,
  next_at timestamptz,
  outcome text,
  check ((next_at is not null) = (status = 'WAITING')),
  primary key (receiver_id, event_id)
);
create index received_events_by_age on received_events (received_at);
create index received_events_by_time on received_events (receiver_id, received_at, id);
create index received_events_due on received_events (next_at) where next_at is not null;

create table grant_message_cursors (
  mechanism_id uuid primary key references mechanisms,
  sequence bigint not null
);

-- `sequence` is the number of the event that made the grant, so each grant has one message.
create table grant_messages (
  mechanism_id uuid not null references mechanisms,
  sequence bigint not null,
  consumer_id uuid not null,
  channel text not null check (channel in ('email', 'phone')),
  outcome text not null check (outcome in ('delivered', 'undeliverable', 'waiting', 'abandoned')),
  attempts int not null,
  updated_at timestamptz not null,
  retry_at timestamptz,
  check ((retry_at is not null) = (outcome = 'waiting')),
  primary key (mechanism_id, sequence)
);
create index grant_messages_waiting on grant_messages (retry_at) where retry_at is not null;

-- What consumers have asked to be told of by email. The subject of a REMINDER is an experience, that of an OUTBID alert
-- an auction. `told_at` is the time of the last lost lead that a mail told of.
create table alerts (
  organization_id uuid not null references organizations,
  mode text not null,
  topic text not null check (topic in ('REMINDER', 'OUTBID')),
  subject_id uuid not null,
  consumer_id uuid not null references consumers,
  language text not null,
  created_at timestamptz not null,
  told_at timestamptz not null,
  tried_at timestamptz,
  attempts int not null default 0,
  primary key (subject_id, consumer_id)
);
create index alerts_by_age on alerts (created_at);
create index alerts_by_consumer on alerts (consumer_id);

-- The messages whose provider gave an id.
create table sent_messages (
  organization_id uuid not null references organizations,
  mode text not null,
  channel text not null check (channel in ('email', 'phone')),
  message_id text not null,
  status text not null,
  sent_at timestamptz not null,
  updated_at timestamptz not null,
  id uuid default gen_random_uuid(),
  address text,
  purpose text,
  consumer_id uuid,
  primary key (organization_id, mode, channel, message_id)
);
create index sent_messages_by_address on sent_messages (organization_id, mode, address) where address is not null;
create index sent_messages_by_age on sent_messages (sent_at);
create index sent_messages_by_consumer on sent_messages (consumer_id) where consumer_id is not null;
create index sent_messages_by_id on sent_messages (id) where id is not null;
create index sent_messages_by_time on sent_messages (organization_id, mode, sent_at, id) where id is not null;

create table stopped_addresses (
  organization_id uuid not null references organizations,
  mode text not null,
  channel text not null check (channel in ('email', 'phone')),
  address text not null,
  reason text not null check (reason in ('BOUNCED', 'COMPLAINED', 'OPTED_OUT')),
  receiver_id uuid not null references receivers,
  stopped_at timestamptz not null,
  id uuid default gen_random_uuid(),
  primary key (organization_id, mode, channel, address)
);
create unique index stopped_addresses_by_id on stopped_addresses (id);
create index stopped_addresses_by_time on stopped_addresses (organization_id, mode, stopped_at, id);

create table webhooks (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null,
  record jsonb not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  archived boolean not null default false,
  url text not null,
  secret bytea not null,
  secret_sealed_by text,
  former_secret bytea,
  former_secret_sealed_by text,
  former_secret_until timestamptz,
  disabled_reason text,
  failing_since timestamptz,
  mailed_at timestamptz
);
create index webhooks_by_archived on webhooks (organization_id, mode, created_at, id) where archived;
create index webhooks_by_tenant on webhooks (organization_id, mode, created_at, id) where not archived;
create index webhooks_by_url on webhooks (organization_id, mode, url, id) where not archived;

-- All events of the subject up to the cursor are delivered, permanently failed, or held. The subject is a mechanism, or
-- the organization for the journal of its tenant.
create table webhook_cursors (
  webhook_id uuid not null references webhooks,
  subject_id uuid not null,
  sequence bigint not null,
  primary key (webhook_id, subject_id)
);

-- Of each lane the first event has a time for its next attempt. The others wait for it.
create table webhook_held (
  webhook_id uuid not null references webhooks,
  subject_id uuid not null,
  sequence bigint not null,
  part smallint not null,
  event_id text not null,
  type text not null,
  lane text not null,
  body text not null,
  attempts smallint not null,
  retry_at timestamptz,
  primary key (webhook_id, lane, sequence, part)
);
create index webhook_held_due on webhook_held (webhook_id, retry_at) where retry_at is not null;

create table webhook_deliveries (
  webhook_id uuid not null references webhooks,
  event_id text not null,
  id uuid not null,
  type text not null,
  status text not null check (status in ('DELIVERED', 'WAITING', 'FAILED')),
  attempts jsonb not null,
  body text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (webhook_id, event_id)
);
create index webhook_deliveries_by_age on webhook_deliveries (created_at);
create index webhook_deliveries_by_time on webhook_deliveries (webhook_id, created_at, id);
