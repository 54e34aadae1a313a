-- Texts that are sorted by are compared byte by byte (collate "C"), so that both databases give the same order.
-- Documents are json, which keeps the order of their members; metadata is jsonb, because it is searched.

create table store_settings (
  name text primary key,
  value text not null
);

create table accounts (
  id uuid primary key,
  name text not null,
  is_default boolean not null default false,
  created_at timestamptz(3) not null
);
create unique index accounts_one_default on accounts (is_default) where is_default;

create table api_keys (
  prefix text collate "C" primary key check (prefix ~ '^[a-zA-Z0-9]{8}$'),
  account_id uuid not null references accounts (id) on delete cascade,
  hash text not null,
  name text not null,
  creator text,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);
create index api_keys_by_creation on api_keys (account_id, created_at, prefix);

create table agents (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  name text not null,
  name_key text collate "C" not null,
  created_at timestamptz(3) not null,
  published_revision_id uuid not null,
  calls_count integer not null default 0,
  deleted_at timestamptz(3)
);
create index agents_by_creation on agents (account_id, created_at, id) where deleted_at is null;
create index agents_by_name on agents (account_id, name_key, id) where deleted_at is null;

create table agent_revisions (
  id uuid primary key,
  agent_id uuid not null references agents (id) on delete cascade,
  account_id uuid not null,
  name text not null,
  call_template json,
  sealed_secrets text,
  created_at timestamptz(3) not null
);
create index agent_revisions_of_agent on agent_revisions (agent_id);

create table calls (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  agent_id uuid references agents (id),
  -- No reference: the revisions of a deleted agent are erased.
  agent_revision_id uuid,
  node_id text not null,
  created_at timestamptz(3) not null,
  join_deadline_at timestamptz(3) not null,
  joined_at timestamptz(3),
  ended_at timestamptz(3),
  end_reason text collate "C",
  client_version text,
  medium_kind text not null,
  join_token_hash text,
  sealed_join_token text,
  settings json not null,
  sealed_secrets text,
  sealed_plan text not null,
  metadata jsonb not null,
  search_text text collate "C" not null,
  request_context json,
  duration_ms bigint,
  billed_duration_ms bigint,
  billing_status text not null default 'PENDING',
  short_summary text,
  summary text,
  check ((ended_at is null) = (end_reason is null))
);
create index calls_by_creation on calls (account_id, created_at, id);
create index calls_by_agent on calls (agent_id, created_at, id);
create index calls_by_join on calls (account_id, coalesce(joined_at, 'infinity'::timestamptz), id);
create index calls_by_end on calls (account_id, coalesce(ended_at, 'infinity'::timestamptz), id);
create index calls_by_billed_duration on calls (account_id, coalesce(billed_duration_ms, 0), id);
create index calls_by_end_reason on calls (account_id, coalesce(end_reason, ''), id);
create index calls_by_metadata on calls using gin (metadata jsonb_path_ops);
create index calls_unfinished on calls (node_id, created_at) where ended_at is null;
create index calls_active on calls (account_id) where ended_at is null;

create table call_stages (
  id uuid primary key,
  call_id uuid not null references calls (id) on delete cascade,
  account_id uuid not null,
  position integer not null,
  created_at timestamptz(3) not null,
  settings json not null,
  sealed_secrets text,
  initial_token_count integer,
  latest_token_count integer,
  error_count integer not null default 0,
  unique (call_id, position)
);

create table call_messages (
  stage_id uuid not null references call_stages (id) on delete cascade,
  message_index integer not null check (message_index >= 0),
  call_id uuid not null references calls (id) on delete cascade,
  account_id uuid not null,
  ordinal bigint not null,
  role text not null,
  text text not null,
  medium text not null,
  invocation_id text,
  tool_name text,
  error_details text,
  call_state json,
  start_ms integer,
  end_ms integer,
  wall_start_ms integer,
  wall_end_ms integer,
  metadata json not null,
  initial boolean not null,
  created_at timestamptz(3) not null,
  primary key (stage_id, message_index)
);
create index call_messages_in_order on call_messages (call_id, ordinal, stage_id);

create table call_events (
  id bigint generated always as identity primary key,
  call_id uuid not null references calls (id) on delete cascade,
  account_id uuid not null,
  stage_id uuid not null,
  call_timestamp_ms integer not null,
  wall_clock_timestamp_ms integer,
  severity smallint not null,
  type text not null,
  text text not null,
  extras json,
  created_at timestamptz(3) not null
);
create index call_events_of_call on call_events (call_id, id);
