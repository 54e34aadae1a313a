-- Batches act: whose turn it is, who makes a scheduled call, and until when.

alter table scheduled_batches
  -- Nothing is claimed before; who had a turn goes to the end of the line. By the clock of the database.
  add column turn_at timestamptz not null default '-infinity',
  -- Its turn does not come before: a limit or a receiver said no.
  add column waits_until timestamptz not null default '-infinity',
  -- [[seconds since 1970, outcomes, failures]], newest last: what the batch is paused by.
  add column recent_outcomes json not null default '[]';
create index scheduled_batches_by_turn on scheduled_batches (turn_at, id) where ended_at is null and hidden_until is null;
create index scheduled_batches_by_window_end on scheduled_batches (window_end_at, id)
  where ended_at is null and hidden_until is null and window_end_at is not null;

alter table scheduled_calls
  -- Of the claim under way, so that one which lost its lease writes nothing.
  add column claim_id uuid,
  add column leased_until timestamptz(3),
  -- Set before anybody outside is asked: from then on nobody else makes this call.
  add column intended_at timestamptz(3),
  -- Not claimed before; '-infinity' for those that were never put off.
  add column due_at timestamptz(3) not null default '-infinity',
  -- At the dialled number, ended ones.
  add column attempts smallint not null default 0,
  -- Claims that ended without an outcome.
  add column lapses smallint not null default 0;
-- Those that were put off and are due come first, the others in the order given.
create index scheduled_calls_due on scheduled_calls (batch_id, due_at desc, position) where status = 'FUTURE';
create index scheduled_calls_claimed on scheduled_calls (leased_until) where status = 'PENDING';
create index scheduled_calls_created on scheduled_calls (batch_id, call_id) where call_id is not null;

-- When numbers were dialled by batches, for the limits of attempts at one; older than a day it counts for nothing.
create table dial_attempts (
  account_id uuid not null references accounts (id) on delete cascade,
  -- In its one spelling: E.164, or a SIP URI without parameters.
  number text collate "C" not null,
  dialled_at timestamptz(3) not null
);
create index dial_attempts_of_number on dial_attempts (account_id, number, dialled_at);
create index dial_attempts_by_age on dial_attempts (dialled_at);
