-- Settings of the deployment's engines, which the operator has stored. An engine without a row has none.
create table deployment_engines (
  engine text primary key check (engine in ('stt', 'llm', 'tts')),
  -- Address, key, model and voice as JSON.
  sealed_settings text not null
);
