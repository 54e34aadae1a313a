-- One lease for each process, and one owner for each call.

-- The only lease is lease_until. Until now heartbeats were written to seen_at as well.
update nodes set lease_until = greatest(lease_until, seen_at);
alter table nodes alter column lease_until set not null;
alter table nodes drop column seen_at;
alter table nodes drop column times_lost;
-- Which loopback interface 127.0.0.1 is for the process: an address on it is of use to processes of the same one only.
alter table nodes add column loopback_id text;

-- The owner of a joined call is (node_id, claimed_boot). Null: nobody, and any process may continue the call.
update calls set node_id = call_snapshots.node_id, claimed_boot = call_snapshots.boot_id
  from call_snapshots where call_snapshots.call_id = calls.id and calls.ended_at is null;
-- The last sign of life of the process of a joined call, where it is gone. Null: it runs, or nobody has looked.
alter table calls add column orphaned_at timestamptz(3);
create index calls_orphaned on calls (orphaned_at) where orphaned_at is not null and ended_at is null;
-- Dropped with their columns: call_snapshots_by_node and call_snapshots_orphaned.
alter table call_snapshots drop column node_id, drop column boot_id, drop column orphaned_at;
