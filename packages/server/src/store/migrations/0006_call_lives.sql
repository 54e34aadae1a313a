-- Deleted calls, metering and usage.

alter table calls add check (billing_status in ('PENDING', 'FREE_CONSOLE', 'FREE_ZERO_EFFECTIVE_DURATION', 'FREE_MINUTES',
  'FREE_SYSTEM_ERROR', 'FREE_OTHER', 'BILLED', 'REFUNDED'));
create index calls_pending on calls (ended_at) where billing_status = 'PENDING' and ended_at is not null;
create index calls_to_delete on calls (ended_at)
  where ended_at is not null and settings ->> 'retentionPolicy' = 'auto_delete';
-- All that figures of calls are made from, so that they are made without reading the calls.
create index calls_figures on calls (account_id, created_at)
  include (agent_id, joined_at, ended_at, end_reason, duration_ms, billed_duration_ms, billing_status);

-- What remains of a deleted call. Columns that calls have too are named as there: the same filters serve both.
create table deleted_calls (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  -- Filtered by, never shown.
  agent_id uuid,
  created_at timestamptz(3) not null,
  joined_at timestamptz(3),
  ended_at timestamptz(3),
  deleted_at timestamptz(3) not null,
  end_reason text collate "C",
  recording_enabled boolean not null,
  had_summary boolean not null,
  -- As on the wire, such as 3600s.
  max_duration text not null,
  duration_ms bigint,
  billed_duration_ms bigint,
  billing_status text not null
);
create index deleted_calls_by_creation on deleted_calls (account_id, created_at, id);

-- Files of deleted calls that are still to be removed, by the node that has them.
create table files_to_remove (
  call_id uuid primary key,
  node_id text not null,
  failures integer not null default 0,
  due_at timestamptz(3) not null
);
create index files_to_remove_of_node on files_to_remove (node_id, due_at);

-- Figures of calls that are over, by the hour of their creation. They stay when a call is deleted.
create table usage_hours (
  account_id uuid not null references accounts (id) on delete cascade,
  hour_at timestamptz(3) not null,
  -- Zeros: without an agent.
  agent_id uuid not null,
  calls bigint not null,
  joined bigint not null,
  errors bigint not null,
  duration_ms bigint not null,
  billed_ms bigint not null,
  sip_billed_ms bigint not null default 0,
  primary key (account_id, hour_at, agent_id)
);
insert into usage_hours (account_id, hour_at, agent_id, calls, joined, errors, duration_ms, billed_ms)
select account_id, date_trunc('hour', created_at, 'UTC'), coalesce(agent_id, '00000000-0000-0000-0000-000000000000'),
  count(*), count(joined_at), count(*) filter (where end_reason in ('connection_error', 'system_error')),
  coalesce(sum(duration_ms), 0), coalesce(sum(billed_duration_ms) filter (where billing_status = 'BILLED'), 0)
from calls where ended_at is not null group by 1, 2, 3;

-- How many calls a node had every 10 seconds; accounts without calls have no row.
create table concurrency_samples (
  account_id uuid not null references accounts (id) on delete cascade,
  at timestamptz(3) not null,
  node_id text not null,
  total integer not null,
  joined integer not null,
  primary key (account_id, at, node_id)
);
create index concurrency_samples_by_time on concurrency_samples (at);

-- What old samples are folded into, all nodes together.
create table concurrency_hours (
  account_id uuid not null references accounts (id) on delete cascade,
  at timestamptz(3) not null,
  max_total integer not null,
  max_joined integer not null,
  sum_total bigint not null,
  sum_joined bigint not null,
  primary key (account_id, at)
);
