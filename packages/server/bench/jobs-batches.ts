/**
 * Batches whose calls two whole services make on one database: one at the rate of a throttle, and one of 100,000 calls
 * at full speed. Each scheduled call has a number, by which the receiver detects one that was made twice.
 * BENCH_PACED_CALLS and BENCH_BATCH_CALLS change the sizes.
 */

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { Client } from "pg";
import { restOf, startChildService, type Rest } from "../demo/child-service.ts";
import type { ReceiverTotals } from "./jobs-batch-receiver.ts";
import { createDatabase } from "./jobs-store.ts";

const PACED_CALLS = Number(process.env["BENCH_PACED_CALLS"] ?? 5_000);
const BATCH_CALLS = Number(process.env["BENCH_BATCH_CALLS"] ?? 100_000);
/** Half of what two services make on two cores that they share with the database. */
const PER_SECOND = 50;
/** A batch that is slower than this has failed its purpose. */
const LEAST_PER_SECOND = 10;
const PROCESSES = 2;
const LOOK_EVERY_MS = 250;
const ENV = {
  API_KEY: "jobsBnch.abcdefghijklmnopqrstuvwxyzABCDEF",
  SECRETS_KEY: Buffer.alloc(32, 1).toString("base64"),
  ALLOW_PRIVATE_TARGETS: "127.0.0.1",
  RATE_LIMIT_PER_KEY: "0",
  RATE_LIMIT_PER_ACCOUNT: "0",
  // No one joins: with a second to join, some hundred calls live at a time.
  MAX_LIVE_CALLS: "2000",
};
const AGENT = {
  name: "bench",
  callTemplate: {
    systemPrompt: "You call {{name}} about an order.",
    medium: { serverWebSocket: { inputSampleRate: 16_000 } },
    joinTimeout: "1s",
  },
};

interface Batch {
  readonly batchId: string;
  readonly endedAt: string | null;
}

interface Round {
  readonly calls: number;
  readonly storedSeconds: number;
  readonly seconds: number;
  readonly received: ReceiverTotals;
  /** By status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Calls created within any one second, at most. */
  readonly peak: number;
}

/** A table. */
export async function measureBatches(): Promise<string> {
  const database = await createDatabase();
  const worker = new Worker(new URL("./jobs-batch-receiver.ts", import.meta.url));
  const [port] = (await once(worker, "message")) as [number];
  const services = [];
  try {
    for (let count = 0; count < PROCESSES; count += 1) {
      services.push(
        await startChildService({
          env: { ...ENV, DATABASE_URL: database.url, NODE_ADDRESS: "http://127.0.0.1:0" },
        }),
      );
    }
    const [service] = services;
    if (service === undefined) throw new Error("There is no service.");
    const rest = restOf(service);
    const { agentId } = await rest<{ agentId: string }>("POST", "/api/agents", AGENT);
    const path = `/api/agents/${agentId}/scheduled_batches`;
    const webhookUrl = `http://127.0.0.1:${String(port)}/`;
    const places = { rest, path, worker, databaseUrl: database.url };
    const rules = [{ maxCalls: PER_SECOND, windowSeconds: 1 }];
    await rest("POST", "/api/call_throttles", { name: "bench", rules });
    const paced = await makeCalls({ webhookUrl, throttle: "bench" }, PACED_CALLS, places);
    const free = await makeCalls({ webhookUrl }, BATCH_CALLS, places);
    return table(paced, free);
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await worker.terminate();
    await database.drop();
  }
}

function table(paced: Round, free: Round): string {
  const row = (title: string, round: Round): string => {
    const { calls, storedSeconds, seconds, statuses, peak, received } = round;
    const made = Object.entries(statuses).map(([status, count]) => `${String(count)} ${status}`);
    const columns = [title, calls, storedSeconds.toFixed(1), (calls / seconds).toFixed(0), peak];
    return `| ${[...columns, made.join(", "), received.calls, received.twice].join(" | ")} |`;
  };
  return [
    `Batches on PostgreSQL, stored by one request and made by ${String(PROCESSES)} services, which tell one receiver of each call; nobody ` +
      `joins, and each call ends after a second. Aims: 100,000 stored within 20 s; with a throttle of ${String(PER_SECOND)} a second ` +
      `its rate, and never more; no call made twice.`,
    "",
    "| batch | calls | stored in, s | made per second | most in one second | results | received | twice |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    row(`${String(PER_SECOND)} calls a second`, paced),
    row("without a throttle", free),
  ].join("\n");
}

interface Places {
  readonly rest: Rest;
  readonly path: string;
  readonly worker: Worker;
  readonly databaseUrl: string;
}

/** The batch waits until it is stored, so that storing it and making its calls are measured apart. */
async function makeCalls(settings: object, count: number, places: Places): Promise<Round> {
  const { rest, path, worker, databaseUrl } = places;
  await ask(worker);
  const calls = Array.from({ length: count }, (_, index) => ({
    metadata: { number: String(index), campaign: "autumn" },
    templateContext: { name: `Customer ${String(index)}` },
  }));
  const storingMs = performance.now();
  const { batchId } = await rest<Batch>("POST", path, { ...settings, paused: true, calls });
  const storedSeconds = (performance.now() - storingMs) / 1000;
  const startedMs = performance.now();
  const limitMs = startedMs + 60_000 + (count / LEAST_PER_SECOND) * 1000;
  await rest("PATCH", `${path}/${batchId}`, { paused: false });
  while ((await rest<Batch>("GET", `${path}/${batchId}`)).endedAt === null) {
    if (performance.now() > limitMs) throw new Error("The batch does not come to its end.");
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const found = await onDatabase(databaseUrl, batchId);
  return { calls: count, storedSeconds, seconds, received: await ask(worker), ...found };
}

async function ask(worker: Worker): Promise<ReceiverTotals> {
  worker.postMessage("totals", []);
  const [received] = (await once(worker, "message")) as [ReceiverTotals];
  return received;
}

/**
 * By the clock of the services, which is read some ms before the throttle counts: the peak may be a little over its
 * rate.
 */
async function onDatabase(databaseUrl: string, batchId: string): Promise<Pick<Round, "statuses" | "peak">> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const counted = await client.query<{ status: string; count: string }>(
      "select status, count(*) from scheduled_calls where batch_id = $1 group by status order by 2 desc",
      [batchId],
    );
    const of = "select call_id from scheduled_calls where batch_id = $1";
    const peak = await client.query<{ peak: string }>(
      `select max(within) as peak from (
        select count(*) over (order by at range between current row and interval '999 milliseconds' following) as within
        from (select created_at as at from calls where id in (${of})) as made) as counted`,
      [batchId],
    );
    const statuses = Object.fromEntries(counted.rows.map(({ status, count }) => [status, Number(count)]));
    return { statuses, peak: Number(peak.rows[0]?.peak ?? 0) };
  } finally {
    await client.end();
  }
}
