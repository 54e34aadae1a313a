-- The operator allows an account to make and take calls over SIP.
alter table accounts add column sip_enabled boolean not null default false;
