-- Calls of the web console, which have a billing status of their own.
alter table calls add column is_of_console boolean not null default false;
