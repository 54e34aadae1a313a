-- The queue of indexes forgets jobs that were lost, and changes of a corpus are counted.

alter table corpora
  -- Until when a queued job for the index counts as waiting, where it has not begun; null: none is queued.
  add column index_queued_until timestamptz(3),
  -- Chunks that have come or gone since the corpus was made: what is remembered about its words is of a certain number.
  add column chunks_changed bigint not null default 0,
  drop column index_queued;
