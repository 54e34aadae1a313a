-- Tools of the accounts. Those of everybody are part of the service and have no rows.
create table tools (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  name text not null,
  name_key text collate "C" not null,
  search_text text collate "C" not null,
  created_at timestamptz(3) not null,
  -- {"definition": …}, secrets taken out and sealed beside it.
  document json not null,
  sealed_secrets text
);
create index tools_by_creation on tools (account_id, created_at, id);
create index tools_by_name on tools (account_id, name_key, id);

-- The tools that a stage began with, as they were then.
create table call_tools (
  stage_id uuid not null references call_stages (id) on delete cascade,
  id uuid not null,
  call_id uuid not null references calls (id) on delete cascade,
  account_id uuid not null,
  position integer not null,
  -- No reference: a deleted tool stays part of what its calls were; null for a tool defined in place.
  tool_id uuid,
  name text not null,
  definition json not null,
  primary key (stage_id, id),
  unique (stage_id, position)
);
create index call_tools_of_call on call_tools (call_id);
create index call_tools_by_tool on call_tools (account_id, tool_id) where tool_id is not null;

-- Whether the messages of the stage before are part of this one.
alter table call_stages add column inherits_messages boolean not null default false;
