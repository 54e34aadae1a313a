-- Administrative changes of an account: who, when, what and from where. Never secrets or bodies.
create table audit_entries (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  created_at timestamptz(3) not null,
  operation text not null,
  via text not null,
  key_prefix text,
  key_name text,
  target_id text,
  target_name text,
  client_address text,
  -- The code of the problem; null: the change was made.
  refusal text,
  request_id text
);
create index audit_entries_by_creation on audit_entries (account_id, created_at, id);
create index audit_entries_by_age on audit_entries (created_at);
