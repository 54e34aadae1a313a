-- What webhooks and callbacks of calls are told, one row for each event and receiver, written with the change it tells of.
create table webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references accounts (id) on delete cascade,
  -- Null: a callback of the call.
  webhook_id uuid references webhooks (id) on delete cascade,
  -- No reference: what was delivered stays on record when the call is deleted, and samples are of no call.
  call_id uuid not null,
  event text not null,
  -- Of the event among those of its call.
  position smallint not null,
  -- Whose turn it uses: a webhook, or the host of a callback in its account.
  receiver text collate "C" not null,
  is_sample boolean not null default false,
  occurred_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  -- The next attempt; while one is under way, the moment at which it counts as cut off. Null when all is done.
  due_at timestamptz(3) default now(),
  -- The attempt under way.
  attempt_id uuid,
  -- Ended attempts since the delivery was begun, or begun anew.
  tries integer not null default 0,
  -- [{"at": …, "durationMs": …, "status": …, "failure": …}], oldest first.
  attempts jsonb not null default '[]',
  -- The call as it was then, as the columns that answers are made of. Null once there is a body.
  call_record json,
  -- What is sent, made before the first attempt so that every attempt sends the same bytes. Holds the join URL.
  sealed_body text,
  finished_at timestamptz(3)
);
create index webhook_deliveries_due on webhook_deliveries (receiver, due_at, position) where status = 'pending';
create index webhook_deliveries_of_call on webhook_deliveries (call_id, position);
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, created_at, id) where webhook_id is not null;
create index webhook_deliveries_of_account on webhook_deliveries (account_id);
create index webhook_deliveries_finished on webhook_deliveries (finished_at) where finished_at is not null;
