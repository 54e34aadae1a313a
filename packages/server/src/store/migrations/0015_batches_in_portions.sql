-- Batches are stored, and erased, in portions.

-- Null: the batch is there. Else nobody sees it: it is being stored until this time, and from then on (its storing was cut
-- off, or it was deleted: -infinity) it is erased by a sweep.
alter table scheduled_batches add column hidden_until timestamptz(3);
create index scheduled_batches_hidden on scheduled_batches (hidden_until, id) where hidden_until is not null;
