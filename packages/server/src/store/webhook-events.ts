/**
 * Events of calls for those who want to be told. Each is written by the statement that changes the call, so that there is
 * no event without its change and no change without its event.
 */

import { WEBHOOK_EVENTS, type WebhookEvent } from "@parley/schema";
import { sql, type RawBuilder } from "kysely";
import { callColumns } from "./call-rows.ts";

/** What a statement must return of the calls that it changes, for `tellOf`. */
export const toldColumns = sql`calls.id, calls.account_id, calls.agent_id, calls.agent_revision_id, calls.created_at,
  calls.joined_at, calls.ended_at, calls.end_reason, calls.client_version, calls.medium_kind, calls.sealed_join_token,
  calls.settings, calls.sealed_secrets, calls.metadata, calls.request_context, calls.duration_ms,
  calls.billed_duration_ms, calls.billing_status, calls.short_summary, calls.summary`;

/** Callbacks of a call are named by the end of the event: there is none for its start. */
function callbackOf(event: WebhookEvent): string {
  return event.slice("call.".length);
}

/**
 * A statement that leaves one delivery for each receiver of the event: webhooks of the account at this moment, and the
 * call's own callback. A webhook that is being deleted is waited for, and told nothing once it is gone. `changed` is a table with `toldColumns`; `occurredAt` is SQL.
 */
export function tellOf(
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
