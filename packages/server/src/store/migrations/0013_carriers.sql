-- Telephony carriers and SIP.
create table telephony_configs (
  account_id uuid not null references accounts (id) on delete cascade,
  carrier text collate "C" not null,
  -- What identifies the account at the carrier; its secrets are sealed beside it.
  settings json not null,
  sealed_secrets text not null,
  allowed_agent_ids uuid[] not null,
  allow_all_agents boolean not null,
  request_context_mapping json not null,
  primary key (account_id, carrier),
  check (not allow_all_agents or cardinality(allowed_agent_ids) = 0)
);

create table sip_configs (
  account_id uuid primary key references accounts (id) on delete cascade,
  allowed_cidr_ranges json not null,
  allow_all_agents boolean not null,
  -- [{"agentId": …, "toUserPattern": …}]; of several that match the first counts.
  allowed_agents jsonb not null,
  fallback_url text,
  sealed_fallback_secrets text,
  check ((fallback_url is null) = (sealed_fallback_secrets is null))
);

create table sip_registrations (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  username text not null,
  sealed_password text not null,
  proxy text not null,
  outbound_proxy text,
  auth_user text,
  -- Null before the first answer of the registrar.
  successful boolean,
  created_at timestamptz(3) not null
);
create index sip_registrations_by_creation on sip_registrations (account_id, created_at, id);
