-- When the carrier said that the phone rings; null: it has not.
alter table carrier_dials add column ringing_at timestamptz;
