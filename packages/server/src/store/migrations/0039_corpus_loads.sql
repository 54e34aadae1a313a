-- Loads of sources, their documents as files and pages, and the chunks that searches find.

-- When a load has first left documents to search; null: never, or the corpus has become empty since.
alter table corpora add column ready_at timestamptz(3);

alter table corpus_sources
  -- Raised by each request to load; loads of an older generation write nothing any more.
  add column generation integer not null default 1,
  -- The generation of the last finished load; null: none has finished.
  add column loaded_generation integer,
  -- The job that loads the source, and until when no other job may: a crashed one is replaced after that.
  add column loader uuid,
  add column loader_until timestamptz(3);
update corpus_sources set loaded_generation = 1 where loaded_at >= load_requested_at;
create index corpus_sources_to_load on corpus_sources (load_requested_at)
  where loaded_generation is null or loaded_generation < generation;

alter table corpus_documents
  add column file_name text,
  -- The canonical address of a page; null for an uploaded document.
  add column url text,
  add column title text,
  -- A BCP 47 tag such as en; null: unknown.
  add column language text,
  -- expected: no file yet. uploaded: waits for its load. ready: has been read. failed: cannot be read.
  add column status text not null default 'ready' check (status in ('expected', 'uploaded', 'ready', 'failed')),
  -- Why the last load failed: a code and a sentence. A ready document with them has kept its earlier chunks.
  add column failure_code text,
  add column failure text,
  -- SHA-256 of the bytes in hexadecimal digits, and the version of readers and chunks that was used on them.
  add column content_hash text collate "C",
  add column reading_version integer not null default 0,
  -- The generation of the source that has last confirmed the document.
  add column generation integer not null default 0,
  -- Loads of this generation that were begun: a document that ends the process each time is given up.
  add column attempts integer not null default 0,
  add column loaded_at timestamptz(3),
  -- SHA-256 of the secret part of the upload address, and until when that address accepts a file.
  add column upload_token text collate "C",
  add column upload_until timestamptz(3),
  -- Where the file is: on the disk of a node, in the bucket, or nowhere (both null and false).
  add column file_node text collate "C",
  add column file_is_shared boolean not null default false;
create index corpus_documents_of_account on corpus_documents (account_id);
create unique index corpus_documents_by_url on corpus_documents (source_id, url) where url is not null;
create unique index corpus_documents_by_token on corpus_documents (upload_token) where upload_token is not null;
create index corpus_documents_unused on corpus_documents (created_at) where source_id is null;

-- Pages of a crawl: those that wait, and what became of the others. Rows of older generations are deleted.
create table corpus_pages (
  id bigint generated always as identity primary key,
  source_id uuid not null references corpus_sources (id) on delete cascade,
  corpus_id uuid not null,
  account_id uuid not null,
  generation integer not null,
  url text not null,
  -- 1: a start page.
  depth integer not null,
  state text not null default 'waiting' check (state in ('waiting', 'loaded', 'skipped', 'failed')),
  attempts integer not null default 0,
  failure_code text,
  failure text,
  created_at timestamptz(3) not null,
  unique (source_id, generation, url)
);
create index corpus_pages_waiting on corpus_pages (source_id, generation, depth, id) where state = 'waiting';
create index corpus_pages_failed on corpus_pages (source_id, created_at) where state = 'failed';

create table corpus_chunks (
  chunk_id bigint generated always as identity primary key,
  account_id uuid not null,
  corpus_id uuid not null,
  source_id uuid not null,
  document_id uuid not null references corpus_documents (id) on delete cascade,
  -- From 0, without gaps, in the order of the document.
  position integer not null,
  -- The headings above the chunk, outermost first: a list of texts.
  heading_path json not null,
  -- From 1; null: the document has no pages.
  page integer,
  text text not null,
  tokens integer not null,
  -- That of the document.
  language text,
  -- SHA-256 of the text with its headings: a chunk that a reload finds again keeps its row, and so its vectors.
  content_hash text collate "C" not null,
  -- Words of the text and its headings, in the dictionary of the language.
  words tsvector not null,
  unique (document_id, position)
);
create index corpus_chunks_of_corpus on corpus_chunks (corpus_id, chunk_id);
create index corpus_chunks_by_words on corpus_chunks using gin (words);

-- Files of deleted documents, from the deletion until they are removed. No account: it may be deleted as well.
create table corpus_files_to_remove (
  document_id uuid primary key,
  file_node text collate "C",
  is_shared boolean not null,
  failures integer not null default 0,
  due_at timestamptz(3) not null
);
create index corpus_files_to_remove_due on corpus_files_to_remove (due_at);

-- A trigger, because documents are also deleted with their source, their corpus and their account.
create function queue_corpus_file() returns trigger language plpgsql as $$
begin
  insert into corpus_files_to_remove (document_id, file_node, is_shared, due_at)
  values (old.id, old.file_node, old.file_is_shared, clock_timestamp())
  on conflict do nothing;
  return null;
end $$;
create trigger corpus_file_unused after delete on corpus_documents
  for each row when (old.file_node is not null or old.file_is_shared)
  execute function queue_corpus_file();
