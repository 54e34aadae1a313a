-- Tokens of side threads; null: the call had none.
alter table calls add column side_input_tokens bigint, add column side_output_tokens bigint;
