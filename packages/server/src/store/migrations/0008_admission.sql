-- Limits on the creation of calls, and repeated requests.

-- Null: as many as the service has room for.
alter table accounts add column allowed_concurrent_calls integer check (allowed_concurrent_calls >= 0);
-- Set while an account is being erased; no calls are created in it any more.
alter table accounts add column removed_at timestamptz(3);

create table call_throttles (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  name text not null,
  created_at timestamptz(3) not null,
  -- [{"maxCalls": …, "windowSeconds": …}]
  rules json not null
);
create index call_throttles_by_creation on call_throttles (account_id, created_at, id);
create index call_throttles_by_name on call_throttles (account_id, name);

-- Calls that a throttle or the rates of their account have let through. Microseconds: several fit in a millisecond.
create table call_admissions (
  account_id uuid not null references accounts (id) on delete cascade,
  -- Null: counted for the rates of the account.
  throttle_id uuid references call_throttles (id) on delete cascade,
  -- No reference: a call that was deleted was created nevertheless.
  call_id uuid not null,
  admitted_at timestamptz not null
);
create index call_admissions_of_throttle on call_admissions (throttle_id, admitted_at) where throttle_id is not null;
create index call_admissions_of_account on call_admissions (account_id, admitted_at) where throttle_id is null;
create index call_admissions_of_call on call_admissions (call_id);

-- First answers to requests that carried an Idempotency-Key.
create table kept_answers (
  account_id uuid not null references accounts (id) on delete cascade,
  key_hash text collate "C" not null,
  -- Of method, path, query and body.
  request_hash text not null,
  -- Of the attempt that carries the request out, so that one which lost its lease writes nothing.
  attempt_id uuid not null,
  created_at timestamptz(3) not null,
  -- After this an attempt without an answer counts as cut off.
  leased_until timestamptz(3) not null,
  -- The answer holds join URLs, so it is sealed as a whole. Null: not answered yet, or too long to be kept.
  sealed_answer text,
  answered boolean not null default false,
  -- What was created, when the answer tells of it: deleting that erases the answer.
  resource_id uuid,
  primary key (account_id, key_hash)
);
create index kept_answers_by_age on kept_answers (created_at);
create index kept_answers_of_resource on kept_answers (account_id, resource_id) where resource_id is not null;
