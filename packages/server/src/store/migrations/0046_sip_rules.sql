-- A conversation with the person who is to take over a caller is a call of its own, whose instructions have words of the
-- caller's call. Null: the call is none.
alter table calls add column consultation_of uuid;
update calls set consultation_of = (metadata ->> 'transferOfCallId')::uuid
  where metadata ->> 'transferOfCallId' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
create index calls_by_consultation on calls (consultation_of) where consultation_of is not null;

-- What an account has decided about its calls over SIP. An account without a row has the defaults.
create table sip_rules (
  account_id uuid primary key references accounts (id) on delete cascade,
  -- Of a far side that wants a call to go elsewhere.
  incoming_refer text not null check (incoming_refer in ('refuse', 'follow')),
  -- Of the media of calls that the service dials over TLS.
  dialled_srtp text not null check (dialled_srtp in ('required', 'preferred', 'off'))
);
