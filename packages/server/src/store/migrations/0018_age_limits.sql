-- Limits by age that the deployment sets for recordings, for what was said, and for whole calls.
alter table calls add column recording_erased boolean not null default false;
alter table calls add column transcript_erased boolean not null default false;
create index calls_by_age on calls (ended_at) where ended_at is not null;
create index calls_with_recording_by_age on calls (ended_at)
  where ended_at is not null and not recording_erased and settings ->> 'recordingEnabled' = 'true';
create index calls_with_transcript_by_age on calls (ended_at) where ended_at is not null and not transcript_erased;
