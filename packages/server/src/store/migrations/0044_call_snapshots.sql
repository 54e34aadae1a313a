-- The state of the engine of each joined call, from which another process continues it. Deleted when the call ends.
create table call_snapshots (
  call_id uuid primary key references calls (id) on delete cascade,
  account_id uuid not null,
  -- The process that runs the call. Only it may write, and exactly one other takes its place.
  node_id text not null,
  boot_id text not null,
  engine_version integer not null,
  -- Null: it has become too large, and the call cannot be continued.
  sealed_state text,
  saved_at timestamptz(3) not null,
  -- When the process was last known to be alive; null: it is.
  orphaned_at timestamptz(3)
);
create index call_snapshots_by_node on call_snapshots (node_id, boot_id);
create index call_snapshots_orphaned on call_snapshots (orphaned_at) where orphaned_at is not null;
