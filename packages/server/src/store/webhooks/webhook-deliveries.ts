/** The log of webhook deliveries, sample deliveries, redelivery, and deletion. */

import { randomUUID } from "node:crypto";
import { WEBHOOK_EVENTS, type WebhookEvent } from "@parley/schema";
import { sql } from "kysely";
import type { CallColumns } from "../database/tables/calls.ts";
import type { Row } from "../database/database.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";
import type { DeliveryAttempt, DeliveryStatus } from "../database/tables/webhooks.ts";
import { newestFirst, readPage, type PageQuery, type PageRows } from "../database/page.ts";

/** Dates are ISO 8601 UTC with milliseconds. */
export interface DeliveryRow {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly event: WebhookEvent;
  readonly callId: string;
  readonly status: DeliveryStatus;
  /** Oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
  /** Null while an attempt is under way, and when there will be none. */
  readonly nextAttemptAt: string | null;
  readonly createdAt: string;
}

const columns = sql`id as "deliveryId", webhook_id as "webhookId", event, call_id as "callId", status, attempts,
  case when attempt_id is null then due_at end as "nextAttemptAt", created_at as "createdAt"`;

/** Newest first. A webhook of another account has none. */
export async function listDeliveries(
  db: Db,
  accountId: string,
  webhookId: string,
  filter: { readonly status?: DeliveryStatus | undefined },
  page: PageQuery,
): Promise<PageRows<DeliveryRow>> {
  return readPage<DeliveryRow>(
    db,
    {
      columns,
      from: sql`webhook_deliveries`,
      where: [
        sql`account_id = ${accountId}`,
        sql`webhook_id = ${webhookId}`,
        ...(filter.status === undefined ? [] : [sql`status = ${filter.status}`]),
      ],
      ...newestFirst,
    },
    page,
  );
}

/** Sends a webhook an event of a sample call, whatever it subscribes to. Null: the account has no such webhook. */
export async function createSampleDelivery(
  db: Db,
  accountId: string,
  webhookId: string,
  event: WebhookEvent,
  record: CallColumns,
): Promise<DeliveryRow | null> {
  const created = await sql<DeliveryRow>`
    insert into webhook_deliveries (id, account_id, webhook_id, call_id, event, position, receiver, is_sample,
      occurred_at, call_record)
    select ${randomUUID()}::uuid, account_id, id, ${record.id}::uuid, ${event}::text,
      ${WEBHOOK_EVENTS.indexOf(event)}::smallint, id::text, true, ${new Date()}::timestamptz, ${toJsonText(record)}::json
    from (select id, account_id from webhooks where id = ${webhookId} and account_id = ${accountId}
      for key share) as webhook
    returning ${columns}`.execute(db.query);
  return created.rows[0] ?? null;
}

/** `erased`: the content was erased with the call. */
export type Redelivery = DeliveryRow | "not_found" | "erased";

/**
 * Delivers again, with the same bytes and all attempts. A pending delivery is attempted now; an attempt that is under
 * way continues.
 */
export async function redeliver(
  db: Db,
  accountId: string,
  webhookId: string,
  deliveryId: string,
): Promise<Redelivery> {
  const of = sql`id = ${deliveryId}::uuid and webhook_id = ${webhookId}::uuid and account_id = ${accountId}::uuid
    and exists (select 1 from webhooks where webhooks.id = webhook_deliveries.webhook_id)`;
  await sql`
    update webhook_deliveries set due_at = now(), finished_at = null, status = 'pending',
      tries = case when status = 'pending' then tries else 0 end
    where ${of} and attempt_id is null and (sealed_body is not null or call_record is not null)`.execute(
    db.query,
  );
  const read = await sql<DeliveryRow>`select ${columns} from webhook_deliveries where ${of}`.execute(
    db.query,
  );
  const [row] = read.rows;
  if (row === undefined) return "not_found";
  return row.status === "pending" ? row : "erased";
}

/** A condition on `calls`. */
export const HAS_PENDING_DELIVERIES = sql`exists (select 1 from webhook_deliveries as waiting
  where waiting.call_id = calls.id and waiting.status = 'pending')`;

/** For the deletion of a call: deletes pending deliveries, and erases the content of finished ones. */
export async function eraseDeliveriesOf(tx: Db, accountId: string, callId: string): Promise<void> {
  await sql`delete from webhook_deliveries
    where call_id = ${callId} and account_id = ${accountId} and status = 'pending'`.execute(tx.query);
  await sql`update webhook_deliveries set sealed_body = null, call_record = null
    where call_id = ${callId} and account_id = ${accountId}`.execute(tx.query);
}

/** Retention of finished deliveries, which can be redelivered during this time. */
const LOG_RETENTION_DAYS = 30;

/** Rows deleted by one statement; bounds its locks. */
const SWEEP_PORTION = 1_000;

/** Deletes deliveries that have passed their retention. True: there may be more. */
export async function sweepDeliveries(db: Db): Promise<boolean> {
  const swept = await sql`
    delete from webhook_deliveries where id in (
      select id from webhook_deliveries where finished_at < now() - make_interval(days => ${LOG_RETENTION_DAYS})
      limit ${SWEEP_PORTION} for update skip locked)
    returning id`.execute(db.query);
  return swept.rows.length === SWEEP_PORTION;
}

/**
 * Pending deliveries that are deleted at once with their webhooks, so that none is claimed; the sweep deletes the rest.
 */
const DROPPED_AT_ONCE = 10_000;

/** The caller has locked the webhooks. */
export async function deletePendingDeliveries(tx: Db, webhookIds: readonly string[]): Promise<void> {
  await sql`
    delete from webhook_deliveries where id in (
      select id from webhook_deliveries
      where status = 'pending' and receiver = any(${webhookIds}::text[]) and webhook_id = any(${webhookIds}::uuid[])
      limit ${DROPPED_AT_ONCE})`.execute(tx.query);
}

/** Deletes a portion of the log of a deleted webhook. True: there may be more. */
export async function eraseLogOfDeletedWebhook(db: Db): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const chosen = await sql<Row<"webhooks_to_erase">>`
      select webhook_id from webhooks_to_erase order by webhook_id limit 1 for update skip locked`.execute(
      tx.query,
    );
    const [webhook] = chosen.rows;
    if (webhook === undefined) return false;
    const erased = await sql`
      delete from webhook_deliveries where id in (
        select id from webhook_deliveries where webhook_id = ${webhook.webhook_id} limit ${SWEEP_PORTION})`.execute(
      tx.query,
    );
    if (erased.numAffectedRows === 0n) {
      await tx.query.deleteFrom("webhooks_to_erase").where("webhook_id", "=", webhook.webhook_id).execute();
    }
    return true;
  });
}
