-- What every call's engine went through, a minute at a time, for replay. Erased with the call.
create table call_event_log_chunks (
  call_id uuid not null references calls (id) on delete cascade,
  account_id uuid not null,
  -- From 0, without gaps.
  chunk_index integer not null,
  event_count integer not null,
  -- JSON lines, compressed and then sealed: they hold what was said.
  sealed_events text not null,
  created_at timestamptz(3) not null,
  primary key (call_id, chunk_index)
);
