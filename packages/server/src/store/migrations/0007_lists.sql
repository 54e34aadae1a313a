-- What long lists and searches need.

create extension if not exists pg_trgm;

-- Calls of an account, in parts that are added up, so that creations at the same time do not wait for one row. Kept by
-- triggers, whoever inserts and deletes.
create table call_counts (
  account_id uuid not null,
  part integer not null,
  calls bigint not null,
  primary key (account_id, part)
);
insert into call_counts (account_id, part, calls) select account_id, 0, count(*) from calls group by account_id;

create function count_calls() returns trigger language plpgsql as $$
begin
  -- One part for each of 16 connections, which is as many as the service opens.
  insert into call_counts as present (account_id, part, calls)
  select account_id, pg_backend_pid() % 16, case tg_op when 'INSERT' then count(*) else -count(*) end
  from changed group by account_id
  on conflict (account_id, part) do update set calls = present.calls + excluded.calls;
  return null;
end $$;
create trigger calls_inserted after insert on calls
  referencing new table as changed for each statement execute function count_calls();
create trigger calls_deleted after delete on calls
  referencing old table as changed for each statement execute function count_calls();

-- No reference: the calls of an account that is deleted are still counted down while it goes.
create function forget_call_counts() returns trigger language plpgsql as $$
begin
  delete from call_counts where account_id = old.id;
  return null;
end $$;
-- Triggers of a table run by name: this one after those of the references, which delete the calls.
create trigger uncounted after delete on accounts for each row execute function forget_call_counts();

-- The account's letters come first, so that a search meets other accounts' calls by chance only: see search-text.ts.
update calls set search_text =
  translate(left(account_id::text, 3), '0123456789abcdef', 'bcdfghjkmpqtvwxz') || chr(1) || search_text;

-- With the account, so that a count needs nothing but the index. The agent leads, for the reference to it.
drop index calls_by_agent;
create index calls_by_agent on calls (agent_id, created_at, id) include (account_id);
create index calls_by_duration on calls (account_id, duration_ms, id) where ended_at is not null;
create index calls_by_time_of_day on calls (account_id, (date_trunc('second', created_at at time zone 'UTC')::time));

-- Only calls that have ended are in here: a call is written once instead of at its creation, join and end, and the few
-- that go on are looked through one by one. Written at once (fastupdate): nobody pays for a hundred others' entries.
create index calls_by_text on calls using gin (search_text gin_trgm_ops)
  with (fastupdate = off) where ended_at is not null;
drop index calls_by_metadata;
create index calls_by_metadata on calls using gin (metadata jsonb_path_ops)
  with (fastupdate = off) where ended_at is not null;

-- Calls are found by the last name of a deleted agent too.
create index agents_by_last_name on agents (account_id, name_key, id);

-- A fifth of a million rows, the default, is too long a wait: lists count on statistics and on pages known to be visible.
alter table calls set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
