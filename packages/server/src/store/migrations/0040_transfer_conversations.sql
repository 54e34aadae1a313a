-- Warm transfers in which the agent itself talks with the called person: that conversation is a call of its own.
alter table call_transfers add column consult_call_id uuid;
create unique index call_transfers_by_consult on call_transfers (consult_call_id) where consult_call_id is not null;
