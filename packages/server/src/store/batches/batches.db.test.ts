import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { createAgent, deleteAgent } from "../agents/agents.ts";
import {
  createBatch,
  deleteBatch,
  deleteBatchesOfAgent,
  getBatch,
  listBatches,
  type NewBatch,
  sweepHiddenBatches,
  updateBatch,
} from "./batches.ts";
import type { Db } from "../database/db.ts";
import { openStore } from "../opening/open-store.ts";
import { listScheduledCalls } from "./scheduled-calls.ts";
import { AgentGoneError, StoreBusyError } from "../database/store-errors.ts";
import { startChild } from "../testing/child.ts";
import { describeOnBothDatabases, newAccount, newDataDir } from "../testing/databases.ts";

const firstPage = { after: null, direction: "forward", limit: 5 } as const;

function batchOf(calls: NewBatch["calls"]): NewBatch {
  return {
    windowStart: null,
    windowEnd: null,
    throttle: null,
    webhookUrl: "https://hooks.example/join",
    paused: false,
    extensions: {},
    webhookSecret: null,
    needsWebhook: true,
    calls,
  };
}

const callsOf = (count: number): object[] =>
  Array.from({ length: count }, (_, n) => ({ metadata: { n: String(n) } }));

/** The call at `position` runs the given code when it is prepared, after the portions before it are stored. */
function callsThat(count: number, position: number, act: () => void): object[] {
  const calls = callsOf(count);
  const acting = {
    toJSON: (): object => {
      act();
      return {};
    },
  };
  calls[position] = { metadata: acting };
  return calls;
}

async function storedCalls(db: Db, agentId: string): Promise<number> {
  const counted = await sql<{ calls: number }>`
    select count(*) as calls from scheduled_calls where batch_id in (
      select id from scheduled_batches where agent_id = ${agentId})`.execute(db.query);
  return counted.rows[0]?.calls ?? 0;
}

async function sweepAll(db: Db): Promise<number> {
  let portions = 0;
  while (await sweepHiddenBatches(db)) portions += 1;
  return portions;
}

describeOnBothDatabases("batches in portions", (current) => {
  const anAgent = async (): Promise<{ accountId: string; agentId: string }> => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { agentId } = await createAgent(db, accountId, { name: "A", callTemplate: null });
    return { accountId, agentId };
  };

  it("come whole, each call in its place", async () => {
    const { db } = current();
    const { accountId, agentId } = await anAgent();
    const { batchId, totalCount } = await createBatch(db, accountId, agentId, batchOf(callsOf(2_345)));
    expect(totalCount).toBe(2_345);
    const read = await listScheduledCalls(db, accountId, batchId, {}, { ...firstPage, limit: 2_345 });
    expect(read.total).toBe(2_345);
    expect(read.rows.map(({ document }) => document)).toEqual(callsOf(2_345));
    expect(await sweepHiddenBatches(db)).toBe(false);
  });

  it("are not there for anybody until they are whole", async () => {
    const { db } = current();
    const { accountId, agentId } = await anAgent();
    const { batchId } = await createBatch(db, accountId, agentId, batchOf(callsOf(3)));
    await sql`update scheduled_batches set hidden_until = now() + interval '1 minute' where id = ${batchId}`.execute(
      db.query,
    );
    expect(await getBatch(db, accountId, agentId, batchId)).toBeNull();
    expect(await listBatches(db, accountId, agentId, firstPage)).toMatchObject({ rows: [], total: 0 });
    expect(await listScheduledCalls(db, accountId, batchId, {}, firstPage)).toMatchObject({
      rows: [],
      total: 0,
    });
    expect(
      await updateBatch(db, accountId, agentId, batchId, async (present) => Promise.resolve(present)),
    ).toBeNull();
    expect(await deleteBatch(db, accountId, agentId, batchId)).toBe(false);
    // The batch is still being stored.
    expect(await sweepHiddenBatches(db)).toBe(false);
    expect(await storedCalls(db, agentId)).toBe(3);
  });

  it("leave nothing when they fail half-way", async () => {
    const { db } = current();
    const { accountId, agentId } = await anAgent();
    const failing = callsThat(2_500, 2_100, () => {
      throw new Error("as a full disk");
    });
    await expect(createBatch(db, accountId, agentId, batchOf(failing))).rejects.toThrow("as a full disk");
    expect(await storedCalls(db, agentId)).toBe(2_000);
    expect((await listBatches(db, accountId, agentId, firstPage)).total).toBe(0);
    // Two for the calls, one for the batch.
    expect(await sweepAll(db)).toBe(3);
    expect(await storedCalls(db, agentId)).toBe(0);
    const left = await sql`select id from scheduled_batches where agent_id = ${agentId}`.execute(db.query);
    expect(left.rows).toEqual([]);
  });

  it("are dropped when their time is over, or their agent is deleted", async () => {
    const { db } = current();
    const slow = await anAgent();
    let expire: Promise<unknown> = Promise.resolve();
    const late = callsThat(1_500, 1_100, () => {
      expire = sql`update scheduled_batches set hidden_until = now() - interval '1 second'
        where agent_id = ${slow.agentId}`.execute(db.query);
    });
    // It was sent first and locks one row; the portion needs that row too, so it runs afterwards.
    const given = createBatch(db, slow.accountId, slow.agentId, batchOf(late));
    await expect(given).rejects.toThrow(StoreBusyError);
    await expire;
    const orphaned = await anAgent();
    let deletion: Promise<unknown> = Promise.resolve();
    const without = callsThat(1_500, 1_100, () => {
      deletion = deleteAgent(db, orphaned.accountId, orphaned.agentId);
    });
    const lost = createBatch(db, orphaned.accountId, orphaned.agentId, batchOf(without));
    await expect(lost).rejects.toThrow(AgentGoneError);
    expect(await deletion).toBe(true);
    await sweepAll(db);
    expect([await storedCalls(db, slow.agentId), await storedCalls(db, orphaned.agentId)]).toEqual([0, 0]);
  });

  it("are erased in portions, by one sweep or several", async () => {
    const { db } = current();
    const { accountId, agentId } = await anAgent();
    const doomed = await createBatch(db, accountId, agentId, batchOf(callsOf(4_100)));
    const stays = await createBatch(db, accountId, agentId, batchOf(callsOf(2)));
    expect(await deleteBatch(db, accountId, agentId, doomed.batchId)).toBe(true);
    expect(await deleteBatch(db, accountId, agentId, doomed.batchId)).toBe(false);
    expect((await listBatches(db, accountId, agentId, firstPage)).rows.map((row) => row.batchId)).toEqual([
      stays.batchId,
    ]);
    expect(await sweepHiddenBatches(db)).toBe(true);
    expect(await storedCalls(db, agentId)).toBe(3_102);
    await Promise.all([sweepAll(db), sweepAll(db), sweepAll(db)]);
    expect(await storedCalls(db, agentId)).toBe(2);
    await deleteBatchesOfAgent(db, accountId, agentId);
    await sweepAll(db);
    expect(await storedCalls(db, agentId)).toBe(0);
  });

  it("that a killed process left half stored are swept, once its time is over", async () => {
    const { kind, databaseUrl, secretsKey } = current();
    const dataDir = kind === "embedded" ? await newDataDir() : mkdtempSync(join(tmpdir(), "parley-batch-"));
    const url = databaseUrl ?? "";
    const child = startChild("./batch-writer.ts", [dataDir, Buffer.from(secretsKey).toString("base64"), url]);
    const agentId = (await child.line()) ?? "";
    expect(await child.line()).toBe("half");
    await child.kill();
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const store = await openStore({ dataDir, databaseUrl, secretsKey, log });
    try {
      const half = await storedCalls(store.db, agentId);
      expect(half).toBeGreaterThanOrEqual(1_000);
      expect(half % 1_000).toBe(0);
      const shown = sql`select id from scheduled_batches where hidden_until is null and agent_id = ${agentId}`;
      expect((await shown.execute(store.db.query)).rows).toEqual([]);
      expect(await sweepHiddenBatches(store.db)).toBe(false);
      await sql`update scheduled_batches set hidden_until = hidden_until - interval '1 hour'
        where agent_id = ${agentId}`.execute(store.db.query);
      await sweepAll(store.db);
      expect(await storedCalls(store.db, agentId)).toBe(0);
    } finally {
      await store.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
