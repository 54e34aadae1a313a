-- Records of calls are written again when the answer to a write is lost, and by a later start: each is stored once.

-- Made by the process that runs the call. Null: events of earlier versions.
alter table call_events add column event_key uuid;
create unique index call_events_once on call_events (call_id, event_key) where event_key is not null;

-- Counts what was written at one index of a stage: an older text that arrives late does not replace a newer one.
alter table call_messages add column version integer not null default 0;
