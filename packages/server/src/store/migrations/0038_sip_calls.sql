-- The operator allows an account to make and take calls over SIP.
alter table accounts add column sip_enabled boolean not null default false;

-- The process that keeps a registration; null or in the past: none.
alter table sip_registrations add column held_by text collate "C", add column held_until timestamptz(3);

-- How a call over SIP ended at the other side, and its time from the beginning, rounded up; null: not over, or not SIP.
alter table calls
  add column sip_termination text check (sip_termination in ('NORMAL', 'INVALID_NUMBER', 'TIMEOUT',
    'DESTINATION_UNAVAILABLE', 'BUSY', 'CANCELED', 'REJECTED', 'UNKNOWN')),
  add column sip_billed_ms bigint;
alter table deleted_calls add column sip_billed_ms bigint;
