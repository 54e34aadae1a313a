/**
 * Batches of scheduled calls; the calls are in `scheduled-calls.ts`. A batch is stored and deleted in portions, each in
 * its own transaction, so that no other query waits for a hundred thousand rows. Meanwhile it is hidden: every
 * statement that reads `scheduled_batches` must check `hidden_until is null`.
 */

import { randomUUID } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import { requireAgent } from "../agents/agent-references.ts";
import { creationTime } from "../database/creation-time.ts";
import type { Row } from "../database/database.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import { eraseAnswersAboutAll } from "../accounts/idempotent-answers.ts";
import type { BatchExtensions } from "../database/tables/batches.ts";
import { newestFirst, readPage, type PageQuery, type PageRows } from "../database/page.ts";
import {
  deleteScheduledCalls,
  insertScheduledCalls,
  type NewScheduledCall,
  prepareScheduledCalls,
} from "./scheduled-calls.ts";
import { AgentGoneError, StoreBusyError, UnknownAgentError } from "../database/store-errors.ts";
import { selectList, type Selected } from "../database/select-list.ts";
import { makeWebhookSecret, openSecrets, sealSecrets } from "../webhooks/webhook-secrets.ts";

/** The settings of a batch. Dates are ISO 8601 UTC with milliseconds. */
export interface BatchSettingsRow {
  /** Null: now. */
  readonly windowStart: string | null;
  /** Null: until all calls are created. */
  readonly windowEnd: string | null;
  /** Name or id of a call throttle. */
  readonly throttle: string | null;
  readonly webhookUrl: string | null;
  readonly paused: boolean;
  readonly extensions: BatchExtensions;
}

export interface BatchRow extends BatchSettingsRow {
  readonly batchId: string;
  readonly createdAt: string;
  readonly webhookSecret: string;
  /** Why the service paused the batch; null: it did not, or the batch was resumed. */
  readonly pauseReason: string | null;
  /** The service does not dial at least one of the calls. */
  readonly needsWebhook: boolean;
  readonly totalCount: number;
  readonly completedCount: number;
  readonly failedCount: number;
  readonly endedAt: string | null;
}

export interface NewBatch extends BatchSettingsRow {
  /** Null: one is generated. */
  readonly webhookSecret: string | null;
  readonly needsWebhook: boolean;
  /** At least one. */
  readonly calls: readonly NewScheduledCall[];
}

/** Lease of a batch that is being stored; each portion renews it. A statement times out much sooner. */
export const STORING_LEASE_MS = 60_000;

/** Calls prepared before they are stored; bounds what is in memory twice. */
const CALLS_PREPARED = 1_000;

const now = sql`clock_timestamp()`;
const leaseEnd = sql`${now} + make_interval(secs => ${STORING_LEASE_MS / 1000})`;
const isStored = sql`hidden_until is null`;
/** Before its window opens no call of a batch is claimed. */
const turnOfWindow = sql`coalesce(window_start_at, '-infinity')`;

/**
 * Stores the batch with all of its calls. A failure or a crash leaves nothing visible; a sweep deletes the rest.
 * @throws AgentGoneError when the account has no such agent.
 * @throws StoreBusyError when the lease of the batch ends while a portion is stored.
 */
export async function createBatch(
  db: Db,
  accountId: string,
  agentId: string,
  batch: NewBatch,
): Promise<BatchRow> {
  const batchId = randomUUID();
  const values = settingsValues(batch);
  const secret = sealSecret(db, batchId, batch.webhookSecret);
  await sql`
    insert into scheduled_batches (id, account_id, agent_id, created_at, window_start_at, window_end_at, throttle,
      webhook_url, sealed_webhook_secret, needs_webhook, paused, extensions, total_count, hidden_until)
    values (${batchId}, ${accountId}, ${agentId}, ${creationTime()}, ${values.windowStart}, ${values.windowEnd},
      ${values.throttle}, ${values.webhookUrl}, ${secret}, ${batch.needsWebhook}, ${values.paused},
      ${values.extensions}::json, ${batch.calls.length}, ${leaseEnd})`.execute(db.query);
  try {
    for (let from = 0; from < batch.calls.length; from += CALLS_PREPARED) {
      const calls = batch.calls.slice(from, from + CALLS_PREPARED);
      for (const portion of await prepareScheduledCalls(db.sealer, batchId, calls, from)) {
        await storePortion(db, accountId, agentId, batchId, portion);
      }
    }
    return await showBatch(db, accountId, agentId, batchId);
  } catch (error) {
    // So that the sweep need not wait for the end of the lease. If this fails as well, it waits.
    await hideBatches(db, sql`id = ${batchId} and hidden_until is not null`).catch(() => undefined);
    throw error;
  }
}

async function storePortion(
  db: Db,
  accountId: string,
  agentId: string,
  batchId: string,
  portion: string,
): Promise<void> {
  const renewed = sql`
    update scheduled_batches set hidden_until = ${leaseEnd} where id = ${batchId} and hidden_until > ${now}
    returning id`;
  if ((await insertScheduledCalls(db, renewed, portion)) > 0) return;
  await inTransaction(db, (tx) => lockAgent(tx, accountId, agentId));
  throw new StoreBusyError("A batch was dropped: the database took too long to store it.");
}

/** Makes the batch visible. The agent is locked, so that its deletion either sees the batch or prevents it. */
async function showBatch(db: Db, accountId: string, agentId: string, batchId: string): Promise<BatchRow> {
  return inTransaction(db, async (tx) => {
    await lockAgent(tx, accountId, agentId);
    const shown = await sql<BatchColumns>`
      update scheduled_batches set hidden_until = null, created_at = ${creationTime()}, turn_at = ${turnOfWindow}
      where id = ${batchId} and hidden_until > ${now} returning ${batchColumns}`.execute(tx.query);
    const [columns] = shown.rows;
    if (columns === undefined) throw new StoreBusyError("A batch was dropped before all of it was stored.");
    return toBatchRow(tx, columns);
  });
}

async function lockAgent(tx: Db, accountId: string, agentId: string): Promise<void> {
  await requireAgent(tx, accountId, agentId).catch((error: unknown) => {
    throw error instanceof UnknownAgentError ? new AgentGoneError("There is no such agent.") : error;
  });
}

/**
 * Hides batches from everything but the sweep, which deletes them. Their rows are locked, so calls that are just being
 * created (see `intendCall`) are stored before. Returns the ids.
 */
async function hideBatches(db: Db, which: RawBuilder<unknown>): Promise<readonly string[]> {
  const hidden = await sql<Pick<Row<"scheduled_batches">, "id">>`
    with chosen as materialized (
      select id from scheduled_batches where ${which} order by id for update
    )
    update scheduled_batches as batch set hidden_until = '-infinity' from chosen
    where batch.id = chosen.id returning batch.id`.execute(db.query);
  return hidden.rows.map(({ id }) => id);
}

/** Deletes a portion of a batch that was deleted or not completely stored. True: there may be more. */
export async function sweepHiddenBatches(db: Db): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const chosen = await sql<Pick<Row<"scheduled_batches">, "id">>`
      select id from scheduled_batches where hidden_until <= ${now} order by hidden_until, id limit 1
      for update skip locked`.execute(tx.query);
    const [batch] = chosen.rows;
    if (batch === undefined) return false;
    if (await deleteScheduledCalls(tx, batch.id)) return true;
    await tx.query.deleteFrom("scheduled_batches").where("id", "=", batch.id).execute();
    return true;
  });
}

export async function getBatch(
  db: Db,
  accountId: string,
  agentId: string,
  batchId: string,
): Promise<BatchRow | null> {
  return readBatch(db, accountId, agentId, batchId, sql``);
}

/** Newest first. */
export async function listBatches(
  db: Db,
  accountId: string,
  agentId: string,
  page: PageQuery,
): Promise<PageRows<BatchRow>> {
  const read = await readPage<BatchColumns>(
    db,
    {
      columns: batchColumns,
      from: sql`scheduled_batches`,
      where: [sql`account_id = ${accountId}`, sql`agent_id = ${agentId}`, isStored],
      ...newestFirst,
    },
    page,
  );
  return { ...read, rows: read.rows.map((columns) => toBatchRow(db, columns)) };
}

/** `webhookSecret`: undefined leaves it as it is, null generates a new one. */
export interface BatchChange extends BatchSettingsRow {
  readonly webhookSecret?: string | null | undefined;
}

/**
 * Locks the batch and stores the settings that `decide` returns. Its calls can be claimed at once; resuming a batch
 * clears its recent outcomes. When `decide` throws, nothing is changed. It must read through `tx`. Null: the agent has
 * no such batch.
 */
export async function updateBatch(
  db: Db,
  accountId: string,
  agentId: string,
  batchId: string,
  decide: (present: BatchRow, tx: Db) => Promise<BatchChange>,
): Promise<BatchRow | null> {
  return inTransaction(db, async (tx) => {
    const present = await readBatch(tx, accountId, agentId, batchId, sql`for update`);
    if (present === null) return null;
    const change = await decide(present, tx);
    const values = settingsValues(change);
    const { webhookSecret } = change;
    const secret = sealSecret(
      tx,
      batchId,
      webhookSecret === undefined ? present.webhookSecret : webhookSecret,
    );
    const updated = await sql<BatchColumns>`
      update scheduled_batches set window_start_at = ${values.windowStart}, window_end_at = ${values.windowEnd},
        turn_at = coalesce(${values.windowStart}::timestamptz, '-infinity'), waits_until = '-infinity',
        recent_outcomes = case when paused and not ${values.paused}::boolean then '[]'::json else recent_outcomes end,
        pause_reason = case when ${values.paused}::boolean then pause_reason end,
        throttle = ${values.throttle}, webhook_url = ${values.webhookUrl}, paused = ${values.paused},
        extensions = ${values.extensions}::json, sealed_webhook_secret = ${secret}
      where id = ${batchId} and account_id = ${accountId}
      returning ${batchColumns}`.execute(tx.query);
    const [columns] = updated.rows;
    return columns === undefined ? null : toBatchRow(tx, columns);
  });
}

/** Deletes a batch; a sweep deletes its scheduled calls. Created calls stay. False: the agent has no such batch. */
export async function deleteBatch(
  db: Db,
  accountId: string,
  agentId: string,
  batchId: string,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const hidden = await hideBatches(
      tx,
      sql`id = ${batchId} and account_id = ${accountId} and agent_id = ${agentId} and ${isStored}`,
    );
    await eraseAnswersAboutAll(tx, accountId, hidden);
    return hidden.length > 0;
  });
}

/**
 * Deletes the batches of an agent that is being deleted, also those that are being stored. No further call is created.
 */
export async function deleteBatchesOfAgent(tx: Db, accountId: string, agentId: string): Promise<void> {
  const hidden = await hideBatches(
    tx,
    sql`agent_id = ${agentId} and account_id = ${accountId} and hidden_until is distinct from '-infinity'`,
  );
  await eraseAnswersAboutAll(tx, accountId, hidden);
}

const batchColumns = selectList("scheduled_batches", {
  batchId: "id",
  createdAt: "created_at",
  windowStart: "window_start_at",
  windowEnd: "window_end_at",
  throttle: "throttle",
  webhookUrl: "webhook_url",
  sealedSecret: "sealed_webhook_secret",
  needsWebhook: "needs_webhook",
  paused: "paused",
  pauseReason: "pause_reason",
  extensions: "extensions",
  totalCount: "total_count",
  completedCount: "completed_count",
  failedCount: "failed_count",
  endedAt: "ended_at",
});

type BatchColumns = Selected<typeof batchColumns>;

async function readBatch(
  db: Db,
  accountId: string,
  agentId: string,
  batchId: string,
  lock: ReturnType<typeof sql>,
): Promise<BatchRow | null> {
  const read = await sql<BatchColumns>`
    select ${batchColumns} from scheduled_batches
    where id = ${batchId} and account_id = ${accountId} and agent_id = ${agentId} and ${isStored} ${lock}`.execute(
    db.query,
  );
  const [columns] = read.rows;
  return columns === undefined ? null : toBatchRow(db, columns);
}

function toBatchRow(db: Db, { sealedSecret, ...columns }: BatchColumns): BatchRow {
  return { ...columns, webhookSecret: openBatchSecret(db, columns.batchId, sealedSecret) };
}

export function openBatchSecret(db: Db, batchId: string, sealed: string): string {
  const [secret = ""] = openSecrets(db.sealer, sealed, secretContext(batchId));
  return secret;
}

function settingsValues(settings: BatchSettingsRow) {
  const { windowStart, windowEnd, throttle, webhookUrl, paused, extensions } = settings;
  return {
    windowStart: windowStart === null ? null : new Date(windowStart),
    windowEnd: windowEnd === null ? null : new Date(windowEnd),
    throttle: throttle === null ? null : toStorableText(throttle),
    webhookUrl: webhookUrl === null ? null : toStorableText(webhookUrl),
    paused,
    extensions: toJsonText(extensions),
  };
}

function sealSecret(db: Db, batchId: string, secret: string | null): string {
  return sealSecrets(db.sealer, [secret ?? makeWebhookSecret()], secretContext(batchId));
}

function secretContext(batchId: string): string {
  return `scheduled_batches.secret:${batchId}`;
}
