-- What an API key may do: `read`, `calls`, `admin`. Null: everything, as keys of earlier versions.
alter table api_keys add column scopes text[];
