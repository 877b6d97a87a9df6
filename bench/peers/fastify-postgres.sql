-- The schema of the fastify-postgres peer; a queue also has a sequence of its own, named queue_<id without dashes>.
create table queues (
  id uuid primary key,
  organization_id uuid not null,
  admit_rate int not null,
  open_at timestamptz,
  status_override text,
  -- Everyone up to this number has been admitted.
  head_number bigint not null default 0
);

create table places (
  queue_id uuid not null references queues,
  consumer_id uuid not null,
  number bigint not null,
  status text not null,
  entered_at timestamptz not null,
  primary key (queue_id, consumer_id)
);

-- Numbers that were given up from the middle of the queue; those at or before the head are no longer needed.
create table departures (
  queue_id uuid not null,
  number bigint not null,
  primary key (queue_id, number)
);
