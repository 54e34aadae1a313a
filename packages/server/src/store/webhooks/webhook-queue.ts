/**
 * The queue of webhook deliveries. Processes with free capacity claim due deliveries in batches. A claim is a lease:
 * when a process stops, it expires, and another process repeats the attempt. All times are by the clock of the
 * database.
 */

import type { Callbacks, WebhookEvent } from "@parley/schema";
import { sql } from "kysely";
import { callContext, toCallRow } from "../calls/call-rows.ts";
import type { CallColumns } from "../database/tables/calls.ts";
import type { CallRow } from "../calls/calls.ts";
import type { Row } from "../database/database.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { openDocument } from "../secrets/redaction.ts";
import type { DeliveryAttempt } from "../database/tables/webhooks.ts";
import { lockHealth, noteHealth } from "./webhook-health.ts";
import { openSecrets } from "./webhook-secrets.ts";

export interface ClaimedDelivery {
  readonly deliveryId: string;
  readonly attemptId: string;
  readonly accountId: string;
  readonly webhookId: string | null;
  readonly callId: string;
  readonly event: WebhookEvent;
  readonly receiver: string;
  readonly isSample: boolean;
  /** ISO 8601 UTC with milliseconds. */
  readonly occurredAt: string;
  /** Attempts that ended before this one. */
  readonly tries: number;
  /** From the event to this claim. */
  readonly waitedMs: number;
  /** The present URL and secrets. Null: the receiver no longer exists. */
  readonly target: { readonly url: string; readonly secrets: readonly string[] } | null;
  /** The call to render the body from, or the stored body, or why there is neither. */
  readonly content: { readonly body: string } | { readonly call: CallRow } | { readonly problem: string };
}

/** Free capacity of the process, which limits a claim. */
export interface ClaimRoom {
  /** Deliveries in all. */
  readonly total: number;
  /** Of a receiver that is not listed in `receivers`. */
  readonly perReceiver: number;
  /** Receivers with less capacity; 0 and less: none. */
  readonly receivers: ReadonlyMap<string, number>;
  /** Of an account that is not listed in `accounts`. */
  readonly perAccount: number;
  /** Accounts with less capacity. */
  readonly accounts: ReadonlyMap<string, number>;
}

/** Longer than an attempt with its writes; shorter than the 30 s after which an attempt is repeated (D162). */
const LEASE_SECONDS = 20;
export const DELIVERY_LEASE_MS = LEASE_SECONDS * 1000;

interface ClaimedColumns extends Omit<ClaimedDelivery, "target" | "content"> {
  readonly url: Row<"webhooks">["url"] | null;
  readonly webhookSecrets: Row<"webhooks">["sealed_secrets"] | null;
  readonly settings: Row<"calls">["settings"] | null;
  readonly settingsSecrets: Row<"calls">["sealed_secrets"];
  readonly record: Row<"webhook_deliveries">["call_record"];
  readonly body: Row<"webhook_deliveries">["sealed_body"];
}

/**
 * Receivers are found one by one in the index, so that the queue of one is not scanned for the others. An event waits
 * for earlier events of its call at the same webhook, or of its callbacks, until each was acknowledged or has failed
 * once (D159). `offset 0` keeps that a look-up by call: as a join, the planner scanned the queue of the receiver for
 * each delivery (100 ms a claim with 5,000 waiting).
 */
export async function claimDeliveries(db: Db, room: ClaimRoom): Promise<ClaimedDelivery[]> {
  // Each event of each call leads here, also where nobody has webhooks, and the claim takes 3 ms to plan.
  if (!(await hasPending(db))) return [];
  const busy = [...room.receivers].map(([receiver, left]) => ({ receiver, room: Math.max(0, left) }));
  const accounts = [...room.accounts].map(([id, left]) => ({ id, room: Math.max(0, left) }));
  const claimed = await sql<ClaimedColumns>`
    with recursive waiting as (
      (select receiver, due_at from webhook_deliveries where status = 'pending' order by receiver, due_at limit 1)
      union all
      select next.receiver, next.due_at from waiting cross join lateral (
        select one.receiver, one.due_at from webhook_deliveries as one
        where one.status = 'pending' and one.receiver > waiting.receiver order by one.receiver, one.due_at limit 1
      ) as next
    ), found as materialized (
      select due.id, due.due_at, due.account_id from (
        select waiting.receiver, coalesce(busy.room, ${room.perReceiver}::int) as room from waiting
        left join json_to_recordset(${toJsonText(busy)}::json) as busy (receiver text, room int)
          on busy.receiver = waiting.receiver
        where waiting.due_at <= now()
      ) as receivers cross join lateral (
        select one.id, one.due_at, one.account_id from webhook_deliveries as one
        where one.status = 'pending' and one.receiver = receivers.receiver and one.due_at <= now()
          and not exists (select 1 from webhook_deliveries as before
            where before.call_id = one.call_id and before.position < one.position
              and before.webhook_id is not distinct from one.webhook_id
              and before.status = 'pending' and before.tries = 0 offset 0)
        order by one.due_at, one.position limit receivers.room for update of one skip locked
      ) as due
    ), chosen as materialized (
      select turns.id from (
        select id, due_at, account_id, row_number() over (partition by account_id order by due_at) as turn from found
      ) as turns left join json_to_recordset(${toJsonText(accounts)}::json) as accounts (id uuid, room int)
        on accounts.id = turns.account_id
      where turns.turn <= coalesce(accounts.room, ${room.perAccount}::int)
      order by turns.due_at limit ${room.total}
    ), claimed as (
      update webhook_deliveries as one
      set attempt_id = gen_random_uuid(), due_at = now() + make_interval(secs => ${LEASE_SECONDS})
      from chosen where one.id = chosen.id
      returning one.*
    )
    select claimed.id as "deliveryId", claimed.attempt_id as "attemptId", claimed.account_id as "accountId", claimed.webhook_id as "webhookId",
      claimed.call_id as "callId", claimed.event, claimed.receiver,
      claimed.is_sample as "isSample", claimed.occurred_at as "occurredAt", claimed.tries,
      greatest(0, round(extract(epoch from clock_timestamp() - claimed.created_at) * 1000))::int as "waitedMs",
      claimed.call_record as record, claimed.sealed_body as body, webhooks.url,
      webhooks.sealed_secrets as "webhookSecrets", calls.settings, calls.sealed_secrets as "settingsSecrets"
    from claimed left join webhooks on webhooks.id = claimed.webhook_id
    left join calls on claimed.webhook_id is null and calls.id = claimed.call_id
    order by claimed.occurred_at, claimed.position`.execute(db.query);
  return claimed.rows.map((row) => toClaimed(db, row));
}

/** In the order of its index, so that sent deliveries are not read. */
async function hasPending(db: Db): Promise<boolean> {
  const read = await sql`${preparedStatement}
    select 1 from webhook_deliveries where status = 'pending' order by receiver, due_at, position limit 1`.execute(
    db.query,
  );
  return read.rows.length > 0;
}

function toClaimed(db: Db, row: ClaimedColumns): ClaimedDelivery {
  const { url: _url, webhookSecrets: _secrets, settings: _settings, settingsSecrets: _sealed, ...rest } = row;
  const { record: _record, body: _body, ...same } = rest;
  try {
    return { ...same, content: contentOf(db, row), target: targetOf(db, row) };
  } catch (error) {
    // One unreadable delivery, such as one sealed under a lost key, must not block the others.
    return { ...same, content: { problem: String(error) }, target: null };
  }
}

function contentOf(db: Db, { deliveryId, body, record }: ClaimedColumns): ClaimedDelivery["content"] {
  if (body !== null) return { body: db.sealer.open(body, bodyContext(deliveryId)) };
  if (record === null) throw new Error("the delivery has no content");
  return { call: toCallRow(db, withDates(record)) };
}

function targetOf(db: Db, row: ClaimedColumns): ClaimedDelivery["target"] {
  const { webhookId, callId, event, url, webhookSecrets, settings, settingsSecrets } = row;
  if (webhookId !== null) {
    if (url === null || webhookSecrets === null) return null;
    return { url, secrets: openSecrets(db.sealer, webhookSecrets, `webhooks.secrets:${webhookId}`) };
  }
  if (settings === null) return null;
  const opened = openDocument(db.sealer, settings, settingsSecrets, callContext(callId));
  const callback = callbackFor(event, opened["callbacks"] ?? {});
  return callback === undefined ? null : { url: callback.url, secrets: callback.secrets ?? [] };
}

/** None for the start of a call, which its creator knows. */
function callbackFor(event: WebhookEvent, callbacks: Callbacks): Callbacks["joined"] {
  const byEvent = {
    "call.started": undefined,
    "call.joined": callbacks.joined,
    "call.ended": callbacks.ended,
    "call.billed": callbacks.billed,
  };
  return byEvent[event];
}

/** Dates inside JSON have another format than dates in columns. */
function withDates(record: CallColumns): CallColumns {
  const date = (text: string | null): string | null => (text === null ? null : new Date(text).toISOString());
  return {
    ...record,
    created_at: new Date(record.created_at).toISOString(),
    joined_at: date(record.joined_at),
    ended_at: date(record.ended_at),
  };
}

/** Binds the sealed body to its row. */
export function bodyContext(deliveryId: string): string {
  return `webhook_deliveries:${deliveryId}`;
}

export interface RenderedBody {
  readonly deliveryId: string;
  readonly attemptId: string;
  readonly body: string;
}

/** Stores bodies before their first attempt. Returns the deliveries that are still claimed. */
export async function storeBodies(db: Db, made: readonly RenderedBody[]): Promise<ReadonlySet<string>> {
  if (made.length === 0) return new Set();
  const rows = made.map(({ deliveryId, attemptId, body }) => ({
    id: deliveryId,
    attempt_id: attemptId,
    body: db.sealer.seal(body, bodyContext(deliveryId)),
  }));
  const stored = await sql<Pick<Row<"webhook_deliveries">, "id">>`${preparedStatement}
    update webhook_deliveries as one set sealed_body = made.body, call_record = null
    from json_to_recordset(${toJsonText(rows)}::json) as made (id uuid, attempt_id uuid, body text)
    where one.id = made.id and one.attempt_id = made.attempt_id
    returning one.id`.execute(db.query);
  return new Set(stored.rows.map(({ id }) => id));
}

/** How an attempt ended. */
export interface AttemptOutcome {
  readonly deliveryId: string;
  readonly attemptId: string;
  readonly webhookId: string | null;
  readonly attempt: DeliveryAttempt;
  /** `pending`: another attempt follows. */
  readonly status: "pending" | "delivered" | "failed";
  /** Delay until the next attempt; null: there is none. */
  readonly retryInMs: number | null;
  /** The receiver answered 410 Gone: its webhook is unhealthy at once. */
  readonly isGone: boolean;
}

/** Attempts that a delivery shows; after many redeliveries the oldest are dropped. */
const SHOWN_ATTEMPTS = 22;

/** Outcomes of lost claims change nothing. In the order in which the attempts ended. */
export async function storeOutcomes(db: Db, outcomes: readonly AttemptOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  const rows = outcomes.map(({ deliveryId, attemptId, attempt, status, retryInMs }) => ({
    id: deliveryId,
    attempt_id: attemptId,
    attempt,
    status,
    retry_in_ms: retryInMs,
  }));
  await inTransaction(db, async (tx) => {
    // First the webhooks, then their deliveries: the order of a deletion.
    const health = await lockHealth(tx, outcomes);
    const written = await sql<{ attemptId: string }>`${preparedStatement}
      update webhook_deliveries as one set attempt_id = null, tries = one.tries + 1, status = ended.status,
        due_at = now() + make_interval(secs => ended.retry_in_ms / 1000.0),
        finished_at = case when ended.status = 'pending' then null else now() end,
        attempts = case when jsonb_array_length(one.attempts) < ${SHOWN_ATTEMPTS} then one.attempts
          else one.attempts - 0 end || jsonb_build_array(ended.attempt)
      from json_to_recordset(${toJsonText(rows)}::json)
        as ended (id uuid, attempt_id uuid, attempt jsonb, status text, retry_in_ms int)
      where one.id = ended.id and one.attempt_id = ended.attempt_id
      returning ended.attempt_id as "attemptId"`.execute(tx.query);
    const held = new Set(written.rows.map(({ attemptId }) => attemptId));
    await noteHealth(
      tx,
      health,
      outcomes.filter(({ attemptId }) => held.has(attemptId)),
    );
  });
}

/** Releases claims that were not attempted, so that another process can claim them at once. */
export async function releaseClaims(
  db: Db,
  claims: readonly Pick<ClaimedDelivery, "deliveryId" | "attemptId">[],
): Promise<void> {
  const rows = claims.map(({ deliveryId, attemptId }) => ({ id: deliveryId, attempt_id: attemptId }));
  await sql`
    update webhook_deliveries as one set attempt_id = null, due_at = now()
    from json_to_recordset(${toJsonText(rows)}::json) as claimed (id uuid, attempt_id uuid)
    where one.id = claimed.id and one.attempt_id = claimed.attempt_id`.execute(db.query);
}

/** Counting for metrics stops here. */
const COUNTED_DELIVERIES = 100_000;

export async function countPendingDeliveries(db: Db): Promise<number> {
  const counted = await sql<{ count: number }>`
    select count(*) as count from (
      select 1 from webhook_deliveries where status = 'pending' limit ${COUNTED_DELIVERIES}) as pending`.execute(
    db.query,
  );
  return counted.rows[0]?.count ?? 0;
}
