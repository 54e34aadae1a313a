-- Corpora of many chunks: only what has changed is indexed, words have an index for each corpus, and the chunks of deleted
-- documents are removed in portions.

alter table corpora
  -- A job that will index the corpus is queued, and has not begun.
  add column index_queued boolean not null default false,
  -- The job that indexes the corpus, and until when no other job may: a crashed one is replaced after that.
  add column indexer text collate "C",
  add column indexer_until timestamptz(3);

-- Of a job that runs twice, because its process was thought lost, only the later attempt may write.
alter table corpus_sources add column loader_attempt uuid;

alter table corpus_documents
  -- Raised with each change of the chunks.
  add column chunks_version integer not null default 0,
  -- The version whose chunks have their vectors; the model that made them, null: none; and the last chunk that was tried:
  -- later chunks of the document have higher ids.
  add column indexed_version integer not null default 0,
  add column indexed_model integer,
  add column indexed_through bigint not null default 0;
-- The first job confirms the vectors that are there already.
update corpus_documents set chunks_version = 1 where chunks_count > 0;
create index corpus_documents_to_index on corpus_documents (corpus_id, id) where indexed_version < chunks_version;

-- Positions are not unique while the chunks of a document are replaced in several transactions. Without the foreign key the
-- deletion of a document does not wait for all of its chunks.
alter table corpus_chunks
  drop constraint corpus_chunks_document_id_position_key,
  drop constraint corpus_chunks_document_id_fkey;
create index corpus_chunks_of_document on corpus_chunks (document_id, position);

-- Documents that were deleted and whose chunks were not, or not all.
create table corpus_chunks_to_remove (
  document_id uuid primary key,
  corpus_id uuid not null,
  -- In the order of deletion.
  id bigint generated always as identity
);
create index corpus_chunks_to_remove_in_order on corpus_chunks_to_remove (id);
create index corpus_chunks_to_remove_of_corpus on corpus_chunks_to_remove (corpus_id);

-- A trigger, because documents are also deleted with their source, their corpus and their account. Once for each statement:
-- a corpus has thousands of documents.
create function queue_corpus_chunks() returns trigger language plpgsql as $$
begin
  insert into corpus_chunks_to_remove (document_id, corpus_id)
  select id, corpus_id from deleted where source_id is not null
  on conflict do nothing;
  return null;
end $$;
create trigger corpus_chunks_unused after delete on corpus_documents
  referencing old table as deleted for each statement
  execute function queue_corpus_chunks();

-- Words of one corpus: an index over all corpora would make each search pass over the chunks of the others. A key is a
-- hash of the word and the corpus.
create function corpus_word_key(corpus uuid, lexeme text) returns bigint
  language sql immutable strict parallel safe
  as $$ select hashtextextended(lexeme, uuid_hash_extended(corpus, 0)) $$;
-- Its cost keeps the planner from computing it for each row instead of using the index.
create function corpus_word_keys(corpus uuid, words tsvector) returns bigint[]
  language sql immutable strict parallel safe cost 10000
  as $$
    select array(
      select hashtextextended(lexeme, uuid_hash_extended(corpus, 0)) from unnest(tsvector_to_array(words)) as lexeme
    )
  $$;
drop index corpus_chunks_by_words;
create index corpus_chunks_by_words on corpus_chunks using gin (corpus_word_keys(corpus_id, words))
  with (fastupdate = off);
