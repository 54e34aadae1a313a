-- How much a whole event log has, told with the end of its call: without it a lost last chunk would look like an end.
create table call_event_log_ends (
  call_id uuid primary key references calls (id) on delete cascade,
  account_id uuid not null,
  chunk_count integer not null,
  event_count integer not null
);
