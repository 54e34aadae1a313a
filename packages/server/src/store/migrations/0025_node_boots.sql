-- The process that runs as a node at present. Null: it was stopped in order, or is of an earlier version.
alter table nodes add column boot_id text;
