/**
 * Batches of calls that are created at their time. Their calls are in `scheduled-calls.ts`. A batch is stored and
 * deleted in portions, each a transaction of its own, so that nobody waits for a hundred thousand rows; meanwhile it is
 * hidden, which every statement that reads `scheduled_batches` has to ask (`hidden_until is null`).
 */

import { randomUUID } from "node:crypto";
import type { CallingHours, RetryPolicy } from "@parley/schema";
import { type RawBuilder, sql } from "kysely";
import { requireAgent } from "./agent-references.ts";
import { creationTime } from "./creation-time.ts";
import { inTransaction, type Db } from "./db.ts";
import { toJsonText, toStorableText } from "./json-text.ts";
import { forgetAnswersAboutAll } from "./kept-answers.ts";
import { readPage, type PageQuery, type PageRows } from "./page.ts";
import {
  deleteScheduledCalls,
  insertScheduledCalls,
  type NewScheduledCall,
  prepareScheduledCalls,
} from "./scheduled-calls.ts";
import { AgentGoneError, StoreBusyError, UnknownAgentError } from "./store-errors.ts";
import { makeWebhookSecret, openSecrets, sealSecrets } from "./webhook-secrets.ts";

/** What a batch may have besides its window; what is unset is absent. */
export interface BatchExtensions {
  readonly retryPolicy?: RetryPolicy;
  readonly callingHours?: CallingHours;
  readonly maxAttemptsPerNumberPerDay?: number;
  readonly respectDoNotCall?: boolean;
  readonly pauseOnFailureRate?: number;
}

/** What can be chosen and changed. Dates are ISO 8601 UTC with milliseconds. */
export interface BatchSettingsRow {
  /** Null: now. */
  readonly windowStart: string | null;
  /** Null: until all are created. */
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
  /** Why the service paused it; null: it did not, or goes on again. */
  readonly pauseReason: string | null;
  /** At least one call is not dialled by the service. */
  readonly needsWebhook: boolean;
  readonly totalCount: number;
  readonly completedCount: number;
  readonly endedAt: string | null;
}

export interface NewBatch extends BatchSettingsRow {
  /** Null: one is made. */
  readonly webhookSecret: string | null;
  readonly needsWebhook: boolean;
  /** At least one. */
  readonly calls: readonly NewScheduledCall[];
}

/** How long a batch may be stored without a sign of life; each portion is one. A statement is given up much sooner. */
export const STORING_LEASE_MS = 60_000;

/** Calls that are prepared before any of them is stored: bounds what is held in memory twice. */
const CALLS_PREPARED = 1_000;

const now = sql`clock_timestamp()`;
const leaseEnd = sql`${now} + make_interval(secs => ${STORING_LEASE_MS / 1000})`;
const isStored = sql`hidden_until is null`;
/** Until its window opens nobody has to look at a batch. */
const turnOfWindow = sql`coalesce(window_start_at, '-infinity')`;

/**
 * Stores the batch with all of its calls, or nothing that anybody sees: what a crash or a failure leaves of it is swept.
 * @throws AgentGoneError when the account has no such agent.
 * @throws StoreBusyError when the database takes so long for a portion that the batch was given up.
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
    // The sweep need not wait for the lease. If this fails too, it does.
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
  await inTransaction(db, (tx) => holdAgent(tx, accountId, agentId));
  throw new StoreBusyError("A batch was given up: the database took too long to store it.");
}

/** The agent is held while the batch comes to light: a deletion of the agent finds it, or it finds the deletion. */
async function showBatch(db: Db, accountId: string, agentId: string, batchId: string): Promise<BatchRow> {
  return inTransaction(db, async (tx) => {
    await holdAgent(tx, accountId, agentId);
    const shown = await sql<BatchColumns>`
      update scheduled_batches set hidden_until = null, created_at = ${creationTime()}, turn_at = ${turnOfWindow}
      where id = ${batchId} and hidden_until > ${now} returning ${batchColumns}`.execute(tx.query);
    const [columns] = shown.rows;
    if (columns === undefined) throw new StoreBusyError("A batch was given up before all of it was stored.");
    return toBatchRow(tx, columns);
  });
}

async function holdAgent(tx: Db, accountId: string, agentId: string): Promise<void> {
  await requireAgent(tx, accountId, agentId).catch((error: unknown) => {
    throw error instanceof UnknownAgentError ? new AgentGoneError("There is no such agent.") : error;
  });
}

/**
 * From here on they are not there for anybody, and the sweep erases them. Held as a whole: calls that are just being
 * made, see `intendCall`, are there before. Gives their ids.
 */
async function hideBatches(db: Db, which: RawBuilder<unknown>): Promise<readonly string[]> {
  const hidden = await sql<{ id: string }>`
    with chosen as materialized (
      select id from scheduled_batches where ${which} order by id for update
    )
    update scheduled_batches as batch set hidden_until = '-infinity' from chosen
    where batch.id = chosen.id returning batch.id`.execute(db.query);
  return hidden.rows.map(({ id }) => id);
}

/** Erases a portion of a batch that was deleted, or that was not stored to its end. True: there may be more. */
export async function sweepHiddenBatches(db: Db): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const chosen = await sql<{ id: string }>`
      select id from scheduled_batches where hidden_until <= ${now} order by hidden_until, id limit 1
      for update skip locked`.execute(tx.query);
    const [batch] = chosen.rows;
    if (batch === undefined) return false;
    if (await deleteScheduledCalls(tx, batch.id)) return true;
    await sql`delete from scheduled_batches where id = ${batch.id}`.execute(tx.query);
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
      sort: sql`created_at`,
      sortType: "timestamptz",
      id: sql`id`,
      idType: "uuid",
      descending: true,
    },
    page,
  );
  return { ...read, rows: read.rows.map((columns) => toBatchRow(db, columns)) };
}

/** `webhookSecret`: undefined keeps the present one, null makes another one. */
export interface BatchChange extends BatchSettingsRow {
  readonly webhookSecret?: string | null | undefined;
}

/**
 * Changes a batch to what `decide` makes of the present one; nobody else changes it in between. It is its turn at once, and a
 * batch that is resumed has a clean slate. What `decide` throws
 * leaves it as it is. Whatever it reads, it must read through `tx`. Null: the agent has no such batch.
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

/** With its scheduled calls, which a sweep erases. Created calls stay. False: the agent has no such batch. */
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
    await forgetAnswersAboutAll(tx, accountId, hidden);
    return hidden.length > 0;
  });
}

/** Those of an agent that goes away: what has not started never starts. Also those that are being stored. */
export async function deleteBatchesOfAgent(tx: Db, accountId: string, agentId: string): Promise<void> {
  const hidden = await hideBatches(
    tx,
    sql`agent_id = ${agentId} and account_id = ${accountId} and hidden_until is distinct from '-infinity'`,
  );
  await forgetAnswersAboutAll(tx, accountId, hidden);
}

interface BatchColumns extends Omit<BatchRow, "webhookSecret"> {
  readonly sealedSecret: string;
}

const batchColumns = sql`id as "batchId", created_at as "createdAt", window_start_at as "windowStart",
  window_end_at as "windowEnd", throttle, webhook_url as "webhookUrl", sealed_webhook_secret as "sealedSecret",
  needs_webhook as "needsWebhook", paused, pause_reason as "pauseReason", extensions, total_count as "totalCount",
  completed_count as "completedCount", ended_at as "endedAt"`;

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
