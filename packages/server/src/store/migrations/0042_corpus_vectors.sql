-- Vectors of chunks, and questions that a corpus could not answer.

-- Models of vectors. Each has a table corpus_vectors_<id>, which the service creates: the type of its column depends on
-- the number of dimensions, and on whether this database has pgvector.
create table corpus_vector_models (
  id integer generated always as identity primary key,
  -- As its server names it, and what else its vectors depend on.
  model text not null,
  basis text not null,
  dimensions integer not null,
  -- vector and halfvec: types of pgvector with an index; bytes: little-endian numbers of 32 bits without one.
  storage text not null check (storage in ('vector', 'halfvec', 'bytes')),
  created_at timestamptz(3) not null,
  unique (model, basis, dimensions, storage)
);

-- Bounded for each corpus, the oldest are deleted. A row is deleted with the call that asked it last.
create table corpus_open_questions (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  corpus_id uuid not null references corpora (id) on delete cascade,
  -- SHA-256 of the question in lower case, in hexadecimal digits: the same question has one row.
  question_hash text collate "C" not null,
  question text not null,
  asked integer not null default 1,
  -- The score of the best result of the last time, times 1,000; 0: there was none.
  best_score_thousandths integer not null,
  call_id uuid references calls (id) on delete cascade,
  asked_at timestamptz(3) not null,
  unique (corpus_id, question_hash)
);
create index corpus_open_questions_in_order on corpus_open_questions (corpus_id, asked_at, id);
create index corpus_open_questions_by_age on corpus_open_questions (asked_at);
create index corpus_open_questions_of_call on corpus_open_questions (call_id) where call_id is not null;

-- Written at once: otherwise each search would read a list of entries that wait, which the embedded database never
-- empties by itself.
alter index corpus_chunks_by_words set (fastupdate = off);
select gin_clean_pending_list('corpus_chunks_by_words');
