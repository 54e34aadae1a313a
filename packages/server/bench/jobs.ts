/**
 * `npm run bench:jobs`: batches of calls made by two processes; deliveries per second to one receiver on this machine,
 * and the time from an event to its arrival there, on both databases. The receiver has a separate thread.
 */

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { sql } from "kysely";
import { callRenderer } from "../src/lifecycle/resource.ts";
import { openDispatcher } from "../src/jobs/webhooks/dispatcher.ts";
import { readAllowedTargets } from "../src/net/address-filter.ts";
import { openGuardedClient } from "../src/net/guarded-fetch.ts";
import { createAccount } from "../src/store/accounts/accounts.ts";
import { insertCall } from "../src/store/calls/calls.ts";
import { newCall } from "../src/store/testing/calls.ts";
import { measureBatches } from "./jobs-batches.ts";
import { openBenchStore, type BenchStore } from "./jobs-store.ts";
import { createWebhook } from "../src/store/webhooks/webhooks.ts";
import { milliseconds, percentile, publish } from "./report.ts";

const BACKLOG = Number(process.env["BENCH_DELIVERIES"] ?? 5_000);
/** Deliveries of a backlog; fewer mean a fault. */
const LEAST_PER_SECOND = 20;
const STEADY_PER_SECOND = 100;
const STEADY_SECONDS = 20;
/** Webhooks of other accounts with a delivery that waits for its retry: each claim has to skip them. */
const OTHER_WEBHOOKS = 1_000;

interface Figures {
  readonly kind: string;
  readonly perSecond: number;
  readonly delays: readonly number[];
}

async function measure(store: BenchStore): Promise<Figures> {
  const { db, kind } = store;
  const worker = new Worker(new URL("./jobs-receiver.ts", import.meta.url));
  const [port] = (await once(worker, "message")) as [number];
  const arrived = async (): Promise<number[]> => {
    worker.postMessage("delays", []);
    const [delays] = (await once(worker, "message")) as [number[]];
    return delays;
  };
  const { accountId } = await createAccount(db, "bench");
  const events = ["call.started"] as const;
  const url = `http://127.0.0.1:${String(port)}/`;
  for (let other = 0; other < OTHER_WEBHOOKS; other += 1) {
    const { accountId: othersId } = await createAccount(db, `other ${String(other)}`);
    await createWebhook(db, othersId, { url, events, agentId: null, secrets: [] });
    await insertCall(db, othersId, newCall());
  }
  await sql`update webhook_deliveries set due_at = now() + interval '1 day'`.execute(db.query);
  await createWebhook(db, accountId, { url, events, agentId: null, secrets: [] });
  for (let made = 0; made < BACKLOG; made += 16) {
    await Promise.all(Array.from({ length: 16 }, () => insertCall(db, accountId, newCall())));
  }
  const dispatcher = openDispatcher({
    db,
    client: openGuardedClient({ allowed: readAllowedTargets("127.0.0.1") }),
    renderCall: callRenderer({ apiNames: "neutral" }, () => "https://voice.example"),
    prefixes: ["X-Service-"],
    metrics: { attempted: () => undefined, firstAttempt: () => undefined, pending: () => undefined },
    log: { warn: console.error, error: console.error },
    nowMs: Date.now,
    random: Math.random,
  });
  const startedMs = performance.now();
  dispatcher.start();
  const count = (await untilArrived(arrived, BACKLOG)).length;
  const perSecond = (count / (performance.now() - startedMs)) * 1000;
  await pause(1_000);
  await arrived();
  const delays = await steadily(async () => {
    await insertCall(db, accountId, newCall());
    dispatcher.wake();
  }, arrived);
  await dispatcher.close();
  await worker.terminate();
  await store.close();
  return { kind, perSecond, delays };
}

async function steadily(one: () => Promise<void>, arrived: () => Promise<number[]>): Promise<number[]> {
  const all = STEADY_PER_SECOND * STEADY_SECONDS;
  const startedMs = performance.now();
  const under: Promise<void>[] = [];
  for (let turn = 0; turn < all; turn += 1) {
    await pause(startedMs + (turn * 1000) / STEADY_PER_SECOND - performance.now());
    under.push(one());
  }
  await Promise.all(under);
  return untilArrived(arrived, all);
}

/** @throws when they come so slowly that something is wrong */
async function untilArrived(arrived: () => Promise<number[]>, count: number): Promise<number[]> {
  const limitMs = performance.now() + 10_000 + (count / LEAST_PER_SECOND) * 1000;
  const delays: number[] = [];
  while (delays.length < count) {
    if (performance.now() > limitMs) throw new Error("Deliveries do not arrive.");
    await pause(50);
    delays.push(...(await arrived()));
  }
  return delays;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

const figures: Figures[] = [];
for (const kind of ["postgresql", "embedded"] as const)
  figures.push(await measure(await openBenchStore(kind)));

const batches = await measureBatches();

const rows = figures.map(({ kind, perSecond, delays }) => {
  const delay = [0.5, 0.99, 1].map((share) => milliseconds(percentile(delays, share)));
  return `| ${kind} | ${perSecond.toFixed(0)} | ${delay.join(" | ")} |`;
});
await publish(
  "bench:jobs",
  `A backlog of ${String(BACKLOG)} deliveries to one receiver, then ${String(STEADY_PER_SECOND)} events a second for ` +
    `${String(STEADY_SECONDS)} s; ${String(OTHER_WEBHOOKS)} other webhooks wait for a retry. The receiver, the service and the ` +
    `database share the machine. The delay is from the event to its arrival at the receiver, with the writing of the call ` +
    `that it tells of.\n\nAims on PostgreSQL: at least 500 a second; p50 at most 300 ms, p99 at most 1 s.\n\n` +
    `| database | deliveries per second | delay p50, ms | p99, ms | longest, ms |\n| --- | --- | --- | --- | --- |\n${rows.join("\n")}\n\n${batches}`,
);
