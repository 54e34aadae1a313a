-- What a failed call's engine went through, for replay. Erased with the call.
create table call_event_logs (
  call_id uuid primary key references calls (id) on delete cascade,
  account_id uuid not null,
  -- Sealed as a whole: it holds the call's plan and what was said.
  sealed_log text not null,
  created_at timestamptz(3) not null
);
