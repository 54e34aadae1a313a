-- Signs of life of the processes that share the database.
create table nodes (
  id text primary key,
  seen_at timestamptz(3) not null,
  -- How often calls were ended because the node gave no sign of life: a node that was only slow learns it from here.
  times_lost integer not null default 0
);

-- Processes of earlier versions give no signs of life: they have a day to be replaced.
insert into nodes (id, seen_at) select distinct node_id, now() + interval '1 day' from calls where ended_at is null;
