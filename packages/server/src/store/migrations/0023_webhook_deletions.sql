-- Deleting a webhook takes no longer for all that it was told: its log is erased afterwards, in portions.
alter table webhook_deliveries drop constraint webhook_deliveries_webhook_id_fkey;
create table webhooks_to_erase (
  webhook_id uuid primary key
);
