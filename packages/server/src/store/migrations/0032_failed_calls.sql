-- Calls of the status ERROR, so that lists show them without a count of each batch.
alter table scheduled_batches add column failed_count integer not null default 0;
update scheduled_batches set failed_count = counted.failed
from (select batch_id, count(*) as failed from scheduled_calls where status = 'ERROR' group by batch_id) as counted
where counted.batch_id = scheduled_batches.id;
