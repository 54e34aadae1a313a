-- What calls use of their engines: with each call when it ends, and sums of all calls, which stay when calls are deleted.
alter table calls add column engine_use json;

-- Sums by the UTC day of the calls' creation.
create table engine_use_days (
  account_id uuid not null references accounts (id) on delete cascade,
  day_at timestamptz(3) not null,
  kind text collate "C" not null check (kind in ('stt', 'llm', 'tts')),
  engine text collate "C" not null,
  provider text collate "C" not null,
  -- Empty: it has no name. So is a currency where there were no prices.
  model text collate "C" not null,
  currency text collate "C" not null,
  requests bigint not null,
  failures bigint not null,
  dropped bigint not null,
  latencies bigint not null,
  latency_sum_ms bigint not null,
  latency_max_ms bigint not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  output_tokens bigint not null,
  uncounted bigint not null,
  heard_ms bigint not null,
  characters bigint not null,
  spoken_ms bigint not null,
  -- In 1e-9 units of the currency.
  cost_nanos bigint not null,
  unpriced bigint not null,
  primary key (account_id, day_at, kind, engine, provider, model, currency)
);
