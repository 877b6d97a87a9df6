-- Gates in front of sites. The key of a gate opens its own record, and the queues that its rules name.

create table gates (
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
  queue_ids text[] not null,
  key_hash bytea not null unique,
  key_display text not null
);
create index gates_by_queue on gates using gin (queue_ids) where not archived;
create index gates_by_archived on gates (organization_id, mode, created_at, id) where archived;
create index gates_by_tenant on gates (organization_id, mode, created_at, id) where not archived;

create function tell_gate() returns trigger language plpgsql as $$
  begin
    perform pg_notify('usher_invalidations', 'gate:' || new.id);
    return null;
  end $$;

create trigger gates_told after insert or update on gates for each row
  execute function tell_gate();
