-- Transfers of calls through a carrier. The dial of the target is in carrier_dials, with the same id.
create table call_transfers (
  id uuid primary key,
  call_id uuid not null,
  account_id uuid not null references accounts (id) on delete cascade,
  carrier text collate "C" not null,
  -- The call that is transferred.
  carrier_call_id text collate "C" not null,
  -- Whom to dial and what to say, sealed.
  sealed_order text not null,
  state text not null check (state in ('requested', 'dialling', 'answered', 'connected', 'failed', 'canceled')),
  -- Why it has failed, in the words that the model gets.
  failure text,
  requested_at timestamptz(3) not null
);
create index call_transfers_of_call on call_transfers (call_id);
create index call_transfers_by_age on call_transfers (requested_at);
create index call_transfers_of_account on call_transfers (account_id);

-- The carrier's word for who has answered, such as machine_start.
alter table carrier_dials add column answered_by text collate "C";
