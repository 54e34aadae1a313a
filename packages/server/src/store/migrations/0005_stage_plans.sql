-- The compiled plan of a later stage, sealed as a whole; that of the first stage is part of the call's.
alter table call_stages add column sealed_plan text;
