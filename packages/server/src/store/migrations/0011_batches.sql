-- Scheduled batches of calls, and numbers that are not to be called.
create table scheduled_batches (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  agent_id uuid not null references agents (id),
  created_at timestamptz(3) not null,
  window_start_at timestamptz(3),
  window_end_at timestamptz(3),
  -- Name or id, as it was given.
  throttle text,
  webhook_url text,
  -- A JSON list of one text.
  sealed_webhook_secret text not null,
  -- At least one call is not dialled by the service, so that somebody must be told its join URL.
  needs_webhook boolean not null,
  paused boolean not null default false,
  -- retryPolicy, callingHours, maxAttemptsPerNumberPerDay, respectDoNotCall, pauseOnFailureRate; unset ones are absent.
  extensions json not null,
  total_count integer not null check (total_count > 0),
  -- Calls of the statuses SUCCESS, EXPIRED and ERROR.
  completed_count integer not null default 0,
  ended_at timestamptz(3)
);
create index scheduled_batches_by_creation on scheduled_batches (agent_id, created_at, id);

create table scheduled_calls (
  batch_id uuid not null references scheduled_batches (id) on delete cascade,
  -- From 0, in the order given.
  position integer not null,
  status text collate "C" not null default 'FUTURE'
    check (status in ('FUTURE', 'PENDING', 'SUCCESS', 'EXPIRED', 'ERROR')),
  -- medium, metadata, templateContext, experimentalSettings; secrets taken out and sealed beside it.
  document json not null,
  sealed_secrets text,
  -- No reference: a call that was deleted was created nevertheless.
  call_id uuid,
  error text,
  primary key (batch_id, position)
);

create table do_not_call (
  account_id uuid not null references accounts (id) on delete cascade,
  -- In its one spelling: E.164, or a SIP URI without parameters.
  number text collate "C" not null,
  note text,
  search_text text collate "C" not null,
  created_at timestamptz(3) not null,
  primary key (account_id, number)
);
create index do_not_call_by_creation on do_not_call (account_id, created_at, number);
