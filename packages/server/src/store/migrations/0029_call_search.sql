-- Calls are found by what was said in them, by their end and by their errors.

-- Set by the first event of severity error, and by that of the first failed engine. It replaces a look at the events.
alter table calls add column has_errors boolean not null default false;
update calls set has_errors = true where id in (
  select call_id from call_events where severity >= 3 or type in ('stt.failed', 'llm.failed', 'tts.failed'));
drop index call_events_faults;
create index calls_with_errors on calls (account_id, created_at, id) where has_errors;
create index calls_by_reason on calls (account_id, end_reason, created_at, id) where end_reason is not null;

-- The time of an account, by the creation of calls, in spans of some 10,000 calls. Each span has its own words in the
-- index, so that a page of a search reads a few spans, however many calls there are.
create table call_text_spans (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  -- A span ends where the next one starts.
  starts_at timestamptz(3) not null,
  -- The last creation of a call that was added.
  newest_at timestamptz(3),
  calls integer not null default 0,
  unique (account_id, starts_at)
);
insert into call_text_spans (account_id, starts_at)
select account_id, case when part = 0 then to_timestamp(0) else min(hour_at) end from (
  select account_id, hour_at,
    floor((sum(calls) over (partition by account_id order by hour_at) - calls) / 10000) as part
  from (
    select account_id, hour_at, sum(calls) as calls from call_counts_of_hours group by account_id, hour_at
  ) as hours
) as parts group by account_id, part;

-- What lists show and searches find of the transcripts of ended calls. Deleted with the transcript.
create table call_texts (
  call_id uuid primary key references calls (id) on delete cascade,
  account_id uuid not null,
  span_id bigint not null,
  created_at timestamptz(3) not null,
  -- Words that were said, each with the number of the span before it.
  words tsvector not null,
  first_words text,
  median_reply_ms integer
);
-- Statistics of single words would not help, and are slow to make.
alter table call_texts alter column words set statistics 0;
-- Written at once (fastupdate): otherwise each search would read a list of entries that wait.
create index call_texts_by_words on call_texts using gin (words) with (fastupdate = off);

-- Ended calls whose words are not in the index yet. Filled by the statement that ends a call, emptied by upkeep.
create table call_texts_due (
  call_id uuid primary key references calls (id) on delete cascade,
  ended_at timestamptz(3) not null
);
create index call_texts_due_in_order on call_texts_due (ended_at);
insert into call_texts_due (call_id, ended_at)
select id, ended_at from calls where ended_at is not null and joined_at is not null and not transcript_erased;
