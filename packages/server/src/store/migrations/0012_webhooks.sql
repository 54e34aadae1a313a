-- Webhooks.
create table webhooks (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  -- Null: calls of every agent, and those without one.
  agent_id uuid references agents (id),
  url text not null,
  -- In the order given, each once.
  events text[] not null,
  -- A JSON list of 1 to 10 texts.
  sealed_secrets text not null,
  status text not null default 'normal' check (status in ('normal', 'unhealthy')),
  last_status_change_at timestamptz(3),
  -- Failed attempts since the last success, whatever was delivered.
  failures_in_row integer not null default 0,
  -- [{"timestamp": …, "failure": …}], newest first, at most 10.
  recent_failures json not null default '[]',
  created_at timestamptz(3) not null
);
create index webhooks_by_creation on webhooks (account_id, created_at, id);
create index webhooks_of_agent on webhooks (agent_id) where agent_id is not null;
