-- The clocks of test modes: one row for each organization that has one. An advance is under way while `advance_to` is set
-- and `problem` is not. Each step changes `frozen_at`, and every process learns of it with the commit.

create table test_clocks (
  organization_id uuid primary key references organizations,
  frozen_at timestamptz not null,
  seed text not null,
  webhook_ids uuid[] not null,
  advance_from timestamptz,
  advance_to timestamptz,
  problem text,
  created_at timestamptz not null,
  created_by text not null
);

create function tell_test_clock() returns trigger language plpgsql as $$
  begin
    perform pg_notify('usher_invalidations', 'test_clock:' || coalesce(new.organization_id, old.organization_id));
    return null;
  end $$;

create trigger test_clocks_told after insert or delete or update on test_clocks for each row
  execute function tell_test_clock();
