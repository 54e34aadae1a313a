-- Calls that the service dials through a carrier: the intent, stored before the carrier is asked, and the outcome.
-- A row outlives its call, because it counts against the limits of the day; the deletion of the call erases its number.
create table carrier_dials (
  call_id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  carrier text collate "C" not null,
  number text collate "C",
  dialled_at timestamptz(3) not null,
  -- Null until the carrier's answer or its first callback.
  carrier_call_id text collate "C",
  answered_at timestamptz(3),
  ended_at timestamptz(3),
  -- Null while it is not over.
  result text check (result in ('completed', 'busy', 'no_answer', 'failed', 'canceled', 'machine', 'refused')),
  detail text,
  -- As the carrier says; null: it has not.
  talked_ms bigint,
  check ((result is null) = (ended_at is null))
);
create index carrier_dials_of_account on carrier_dials (account_id, dialled_at);
create index carrier_dials_by_age on carrier_dials (dialled_at);

-- What an account may dial. An account without a row may dial everything that its carrier dials.
create table dialling_rules (
  account_id uuid primary key references accounts (id) on delete cascade,
  -- E.164 prefixes, such as +49. Empty: all numbers.
  allowed_prefixes text[] not null,
  max_calls_per_day integer check (max_calls_per_day >= 0),
  max_minutes_per_day integer check (max_minutes_per_day >= 0)
);

-- Which agent answers calls to a number of the account.
create table phone_numbers (
  account_id uuid not null references accounts (id) on delete cascade,
  number text collate "C" not null,
  agent_id uuid not null references agents (id) on delete cascade,
  created_at timestamptz(3) not null,
  primary key (account_id, number)
);
create index phone_numbers_by_creation on phone_numbers (account_id, created_at, number);
create index phone_numbers_of_agent on phone_numbers (agent_id);
