/**
 * Inserts deliveries for events of calls. The statement that changes the call inserts them as well, so that there is no
 * event without its change and no change without its event.
 */

import { WEBHOOK_EVENTS, type WebhookEvent } from "@parley/schema";
import { sql, type RawBuilder } from "kysely";
import { callColumns } from "../database/call-columns.ts";

/** The name of the callback of a call for the event. Its start has none. */
function callbackOf(event: WebhookEvent): string {
  return event.slice("call.".length);
}

/**
 * A statement that inserts one delivery for each receiver of the event: the webhooks of the account, and the callback
 * of the call. It waits for a webhook that is being deleted, and inserts nothing for it once it is deleted. `changed`
 * is a table with `ownCallColumns`; `occurredAt` is SQL.
 */
export function insertDeliveries(
  changed: string,
  event: WebhookEvent,
  occurredAt: RawBuilder<unknown>,
  which: RawBuilder<unknown> = sql`true`,
): RawBuilder<unknown> {
  const url = sql`calls.settings #>> ${sql.lit(`{callbacks,${callbackOf(event)},url}`)}`;
  return sql`insert into webhook_deliveries (account_id, webhook_id, call_id, event, position, receiver, occurred_at,
      call_record)
    select calls.account_id, receivers.webhook_id, calls.id, ${event}::text, ${WEBHOOK_EVENTS.indexOf(event)}::smallint,
      receivers.receiver, ${occurredAt},
      (select row_to_json(record) from (select ${callColumns}) as record)
    from ${sql.table(changed)} as calls left join agents on agents.id = calls.agent_id
    cross join lateral (
      select wanted.id as webhook_id, wanted.id::text as receiver from (
        select webhooks.id from webhooks
        where webhooks.account_id = calls.account_id and ${event}::text = any(webhooks.events)
          and (webhooks.agent_id is null or webhooks.agent_id = calls.agent_id)
        for key share
      ) as wanted
      union all
      select null::uuid, calls.account_id::text || ' ' || substring(${url} from '^[^/?#]*//[^/?#]*')
      where ${url} is not null
    ) as receivers where ${which}`;
}
