-- SIP messages of calls, with their secrets masked.
create table sip_messages (
  call_id uuid not null references calls (id) on delete cascade,
  account_id uuid not null,
  -- In the order of the call: its time in ms since 1970, or more where several messages have the same.
  position bigint not null,
  sent_or_received_at timestamptz(3) not null,
  is_sent boolean not null,
  transport text collate "C" not null,
  source text collate "C" not null,
  destination text collate "C" not null,
  text text not null,
  primary key (call_id, position)
);

-- The last attempt of a registration: the status of the answer, or the one that stands for its absence.
alter table sip_registrations
  add column last_status smallint,
  add column last_reason text,
  add column attempted_at timestamptz(3),
  add column next_attempt_at timestamptz(3);
