-- Numbers of calls by agent and by hour of creation, kept as those of accounts are: totals of filtered lists without counting.

-- Nobody creates or deletes a call between the count and the new triggers.
lock table calls in share row exclusive mode;

-- Summed over parts, as in call_counts.
create table call_counts_of_agents (
  account_id uuid not null,
  agent_id uuid not null,
  part integer not null,
  calls bigint not null,
  primary key (account_id, agent_id, part)
);
insert into call_counts_of_agents (account_id, agent_id, part, calls)
select account_id, agent_id, 0, count(*) from calls where agent_id is not null group by 1, 2;

create table call_counts_of_hours (
  account_id uuid not null,
  hour_at timestamptz(3) not null,
  part integer not null,
  calls bigint not null,
  primary key (account_id, hour_at, part)
);
insert into call_counts_of_hours (account_id, hour_at, part, calls)
select account_id, date_trunc('hour', created_at, 'UTC'), 0, count(*) from calls group by 1, 2;

-- In the order of their keys, so that two of these statements never wait for each other.
create or replace function count_calls() returns trigger language plpgsql as $$
begin
  -- One part for each of 16 connections, which is as many as the service opens.
  insert into call_counts as present (account_id, part, calls)
  select account_id, pg_backend_pid() % 16, case tg_op when 'INSERT' then count(*) else -count(*) end
  from changed group by account_id order by account_id
  on conflict (account_id, part) do update set calls = present.calls + excluded.calls;
  insert into call_counts_of_agents as present (account_id, agent_id, part, calls)
  select account_id, agent_id, pg_backend_pid() % 16, case tg_op when 'INSERT' then count(*) else -count(*) end
  from changed where agent_id is not null group by account_id, agent_id order by account_id, agent_id
  on conflict (account_id, agent_id, part) do update set calls = present.calls + excluded.calls;
  insert into call_counts_of_hours as present (account_id, hour_at, part, calls)
  select account_id, date_trunc('hour', created_at, 'UTC'), pg_backend_pid() % 16,
    case tg_op when 'INSERT' then count(*) else -count(*) end
  from changed group by 1, 2 order by 1, 2
  on conflict (account_id, hour_at, part) do update set calls = present.calls + excluded.calls;
  return null;
end $$;

create or replace function forget_call_counts() returns trigger language plpgsql as $$
begin
  delete from call_counts where account_id = old.id;
  delete from call_counts_of_agents where account_id = old.id;
  delete from call_counts_of_hours where account_id = old.id;
  return null;
end $$;
