/** Batches whose calls two processes make on one database: as quickly as they can, and as quickly as a throttle lets them. */

import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { sql } from "kysely";
import { getBatch, updateBatch } from "../src/store/batches.ts";
import { callsOf, newBatch, statusesOf, type OwnBatch } from "../src/store/testing/batches.ts";
import { startChild, type Child } from "../src/store/testing/child.ts";
import { createThrottle } from "../src/store/throttles.ts";
import type { BenchStore } from "./jobs-store.ts";

const FREE_CALLS = Number(process.env["BENCH_BATCH_CALLS"] ?? 3_000);
const THROTTLED_CALLS = 1_500;
const PER_SECOND = 100;
const PROCESSES = 2;
const LOOK_EVERY_MS = 50;

interface Round {
  readonly calls: number;
  readonly perSecond: number;
  readonly told: number;
  readonly successes: number;
  /** Calls created within any one second, at most. */
  readonly peak: number;
}

/** A table. Closes the store. */
export async function measureBatches(store: BenchStore): Promise<string> {
  const { databaseUrl, secretsKey } = store;
  if (databaseUrl === null) throw new Error("Two processes need a database server.");
  const worker = new Worker(new URL("./jobs-receiver.ts", import.meta.url));
  const [port] = (await once(worker, "message")) as [number];
  const told = async (): Promise<number> => {
    worker.postMessage("delays", []);
    const [delays] = (await once(worker, "message")) as [number[]];
    return delays.length;
  };
  const children: Child[] = [];
  const dirs: string[] = [];
  for (let count = 0; count < PROCESSES; count += 1) {
    const dir = await mkdtemp(join(tmpdir(), "parley-bench-"));
    dirs.push(dir);
    const key = Buffer.from(secretsKey).toString("base64");
    const child = startChild("../../jobs/batches/testing/batch-node.ts", [dir, key, databaseUrl]);
    children.push(child);
    await child.line();
  }
  const url = `http://127.0.0.1:${String(port)}/`;
  const free = await dispatch(store, url, FREE_CALLS, false, told);
  const throttled = await dispatch(store, url, THROTTLED_CALLS, true, told);
  for (const child of children) await child.finish();
  await worker.terminate();
  await store.close();
  for (const dir of dirs) await rm(dir, { recursive: true, force: true });
  const row = (title: string, { calls, perSecond, successes, told: count, peak }: Round): string =>
    `| ${title} | ${calls} | ${perSecond.toFixed(0)} | ${peak} | ${successes} | ${count} |`;
  return [
    `Batches on PostgreSQL, whose calls ${PROCESSES} processes make and tell one receiver of. Aims: at least 200 a second; with a ` +
      `throttle of ${PER_SECOND} a second its rate, and never more; each call told once.`,
    "",
    "| batch | calls | per second | most in one second | SUCCESS | receiver told |",
    "| --- | --- | --- | --- | --- | --- |",
    row("without a throttle", free),
    row(`${PER_SECOND} calls a second`, throttled),
  ].join("\n");
}

async function dispatch(
  { db }: BenchStore,
  webhookUrl: string,
  calls: number,
  isThrottled: boolean,
  told: () => Promise<number>,
): Promise<Round> {
  await told();
  const batch = await newBatch(db, callsOf(calls), { webhookUrl, paused: true });
  const { accountId, agentId, batchId } = batch;
  const rules = [{ maxCalls: PER_SECOND, windowSeconds: 1 }];
  const throttle = isThrottled
    ? (await createThrottle(db, accountId, { name: "t", rules })).throttleId
    : null;
  await updateBatch(db, accountId, agentId, batchId, async (present) => ({
    ...present,
    webhookSecret: undefined,
    throttle,
    paused: false,
  }));
  const startedMs = performance.now();
  while ((await getBatch(db, accountId, agentId, batchId))?.endedAt === null) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const statuses = await statusesOf(db, batchId);
  return {
    calls,
    perSecond: calls / seconds,
    told: await told(),
    successes: statuses.filter((status) => status === "SUCCESS").length,
    peak: await peakOf(batch, db, isThrottled),
  };
}

/** By the clock of the database where it was counted, else by that of the processes. */
async function peakOf({ agentId }: OwnBatch, db: BenchStore["db"], isThrottled: boolean): Promise<number> {
  const at = isThrottled
    ? sql`select admitted_at as at from call_admissions
        where call_id in (select id from calls where agent_id = ${agentId})`
    : sql`select created_at as at from calls where agent_id = ${agentId}`;
  const peak = await sql<{ peak: number }>`
    select max(within) as peak from (
      select count(*) over (order by at range between current row and interval '999 milliseconds' following) as within
      from (${at}) as made) as counted`.execute(db.query);
  return peak.rows[0]?.peak ?? 0;
}
