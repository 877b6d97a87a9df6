-- Rehearsals that a server runs: a job, and later its report. `claimed_at` is when a process began it. Its keys are valid
-- until `keys_until`, which the process moves on while it runs. A process that ends leaves them for some seconds.

create table rehearsals (
  id uuid primary key,
  organization_id uuid not null references organizations,
  mode text not null check (mode = 'live'),
  experience_id uuid not null references experiences,
  status text not null check (status in ('RUNNING', 'DONE', 'FAILED')),
  crowd jsonb not null,
  declared text[] not null default '{}',
  seed integer not null,
  begins_at timestamptz,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  claimed_at timestamptz,
  ended_at timestamptz,
  is_cancelled boolean not null default false,
  progress double precision not null default 0,
  clock_now timestamptz,
  problem text,
  report jsonb,
  keys_hash bytea unique,
  keys_until timestamptz
);
create unique index rehearsals_running on rehearsals (organization_id) where status = 'RUNNING';
create index rehearsals_by_experience on rehearsals (experience_id, created_at, id);

create function tell_rehearsal() returns trigger language plpgsql as $$
  begin
    perform pg_notify('usher_invalidations', 'rehearsal:' || new.id);
    return null;
  end $$;

create trigger rehearsals_begun_told after insert on rehearsals for each row
  execute function tell_rehearsal();
create trigger rehearsals_cancelled_told after update on rehearsals
  for each row when (new.is_cancelled and not old.is_cancelled)
  execute function tell_rehearsal();
