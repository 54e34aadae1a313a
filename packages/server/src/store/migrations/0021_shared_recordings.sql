-- Recordings that are in a store which all nodes share, so that any of them can remove them.
alter table calls add column recording_is_shared boolean not null default false;
alter table files_to_remove add column is_shared boolean not null default false;
create index shared_files_to_remove on files_to_remove (due_at) where is_shared;
