alter table scheduled_batches
  -- Why the service paused it, in a sentence; null where a person did, and where it is not paused.
  add column pause_reason text;
