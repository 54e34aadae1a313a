-- The operator allows an account to make and take calls over SIP.
alter table accounts add column sip_enabled boolean not null default false;

-- The process that keeps a registration; null or in the past: none.
alter table sip_registrations add column held_by text collate "C", add column held_until timestamptz(3);
