/** Batches for tests. */

import { sql } from "kysely";
import { createAgent } from "../agents/agents.ts";
import type { ClaimedCall } from "../batches/batch-claims.ts";
import type { CallOutcome } from "../batches/batch-outcomes.ts";
import { createBatch, type BatchRow, type NewBatch } from "../batches/batches.ts";
import type { Db } from "../database/db.ts";
import { newAccount } from "./databases.ts";

export interface OwnBatch extends BatchRow {
  readonly accountId: string;
  readonly agentId: string;
}

/** Creates a batch with a new account and agent; `changes` override the defaults. */
export async function newBatch(
  db: Db,
  calls: readonly object[],
  changes: Partial<NewBatch> = {},
  callTemplate: object | null = null,
): Promise<OwnBatch> {
  const accountId = await newAccount(db);
  const { agentId } = await createAgent(db, accountId, { name: "A", callTemplate });
  const row = await createBatch(db, accountId, agentId, {
    windowStart: null,
    windowEnd: null,
    throttle: null,
    webhookUrl: "https://hooks.example/join",
    paused: false,
    extensions: {},
    webhookSecret: null,
    needsWebhook: true,
    calls,
    ...changes,
  });
  return { ...row, accountId, agentId };
}

export const callsOf = (count: number): object[] =>
  Array.from({ length: count }, (_, n) => ({ metadata: { n: String(n) } }));

/** An outcome of a claimed call. */
export function outcomeOf(call: ClaimedCall, changes: Partial<CallOutcome> = {}): CallOutcome {
  const nothing = { error: null, callId: null, dueInMs: 0, attempted: false, lapsed: false, counts: null };
  return { ...call, status: "SUCCESS", ...nothing, ...changes };
}

/** Statuses of the calls of a batch, in their order. */
export async function statusesOf(db: Db, batchId: string): Promise<string[]> {
  const read = await sql<{ status: string }>`
    select status from scheduled_calls where batch_id = ${batchId} order by position`.execute(db.query);
  return read.rows.map(({ status }) => status);
}

/** As if time had passed: every batch is next in turn. */
export async function skipWaits(db: Db): Promise<void> {
  await sql`update scheduled_batches set turn_at = '-infinity', waits_until = '-infinity' where hidden_until is null`.execute(
    db.query,
  );
}

/** As if every process with a claim had died some time ago. */
export async function expireClaims(db: Db): Promise<void> {
  await sql`
    update scheduled_calls set leased_until = now() - interval '1 second' where status = 'PENDING'`.execute(
    db.query,
  );
}

export async function removeBatches(db: Db): Promise<void> {
  await sql`delete from scheduled_batches where hidden_until is null or hidden_until is not null`.execute(
    db.query,
  );
}
