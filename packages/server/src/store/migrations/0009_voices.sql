-- Voices of the accounts. Those of everybody belong to the engine of the deployment and have no rows.
create table voices (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  name text not null,
  search_text text collate "C" not null,
  description text,
  primary_language text,
  -- Lower-cased, for filters.
  language_key text collate "C",
  -- The one key of the definition, such as provider1.
  kind text collate "C" not null,
  created_at timestamptz(3) not null,
  -- {"definition": …}, secrets taken out and sealed beside it.
  document json not null,
  sealed_secrets text
);
create index voices_by_creation on voices (account_id, created_at, id);
create index voices_by_name on voices (account_id, name);

-- Keys of the accounts at voice providers, sealed.
create table tts_api_keys (
  account_id uuid not null references accounts (id) on delete cascade,
  provider text collate "C" not null,
  -- What answers show of it.
  prefix text not null,
  sealed_key text not null,
  primary key (account_id, provider)
);

-- The voice that the first stage named: a record's id or that of a voice of everybody. No reference: voices go, calls stay.
alter table calls add column voice_id uuid;
create index calls_by_voice on calls (account_id, voice_id, created_at, id) where voice_id is not null;
