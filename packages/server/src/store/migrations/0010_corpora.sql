-- Corpora with their sources and documents.
create table corpora (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  name text,
  description text,
  created_at timestamptz(3) not null
);
create index corpora_by_creation on corpora (account_id, created_at, id);

create table corpus_sources (
  id uuid primary key,
  corpus_id uuid not null references corpora (id) on delete cascade,
  account_id uuid not null,
  name text,
  description text,
  kind text not null check (kind in ('crawl', 'upload', 'advanced')),
  spec json not null,
  created_at timestamptz(3) not null,
  -- A load is wanted as long as this is later than the last one.
  load_requested_at timestamptz(3) not null,
  -- When the last load was done; null: never.
  loaded_at timestamptz(3)
);
create index corpus_sources_by_creation on corpus_sources (corpus_id, created_at, id);

create table corpus_documents (
  id uuid primary key,
  corpus_id uuid not null references corpora (id) on delete cascade,
  account_id uuid not null,
  -- Null: uploaded, and named by no source yet.
  source_id uuid references corpus_sources (id) on delete cascade,
  mime_type text not null,
  metadata json not null,
  size_bytes bigint not null,
  chunks_count integer not null default 0,
  vectors_count integer not null default 0,
  created_at timestamptz(3) not null
);
create index corpus_documents_of_corpus on corpus_documents (corpus_id);
create index corpus_documents_of_source on corpus_documents (source_id, created_at, id) where source_id is not null;
