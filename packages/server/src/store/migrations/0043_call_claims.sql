-- Which process has claimed a call by a join, and what each process announces to the others.

-- The boot of the process that a client has joined the call at. Null: nobody has joined it, and any process may take it.
alter table calls add column claimed_boot text;
-- Join timeouts, whichever process has made the call.
create index calls_awaiting_join on calls (join_deadline_at) where joined_at is null and ended_at is null;

-- Until when the process counts as running; it is renewed every two seconds. Null: it has announced nothing.
alter table nodes add column lease_until timestamptz(3);
-- Where the other processes reach it, such as http://10.0.0.5:8090. Null: nowhere.
alter table nodes add column address text;
alter table nodes add column version text;
-- It takes no new calls, because it is being stopped.
alter table nodes add column is_draining boolean not null default false;
alter table nodes add column live_calls integer not null default 0;
-- Its share of the request rates, in millionths; those of all processes add up to a million at most.
alter table nodes add column rate_share integer not null default 0;
