-- Whether a call has faults is part of every list of calls; without it each event of each call would be read.
create index call_events_faults on call_events (call_id)
  where severity >= 3 or type in ('stt.failed', 'llm.failed', 'tts.failed');
