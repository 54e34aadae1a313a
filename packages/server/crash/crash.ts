/**
 * `npm run crash`: kills services at random moments under load and checks afterwards whether every event of an
 * acknowledged call was delivered at least once and none was invented, and whether every call of an acknowledged batch
 * was created once or has an error; a share of the joined calls is recorded into a bucket and summarised. CRASH_KILLS,
 * CRASH_NODES (1 to 3), CRASH_DATABASE (postgresql or embedded, which has one node), CRASH_BUCKET (false: none) and
 * CRASH_SEED change the run. With `--corpora` it loads documents in place of calls; with `--calls` it kills services (3
 * by default) in the middle of conversations (CRASH_CALLS, 20); with `--outage` it stops the database of such
 * conversations (CRASH_KILLS times, 1, for CRASH_OUTAGE_MS, 10000). Exits with 1 when a check fails.
 */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { createDatabase } from "../bench/jobs-store.ts";
import { restOf, startChildService, type ChildService } from "../demo/child-service.ts";
import { openReceiver, deliveryOf } from "../src/jobs/testing/receiver.ts";
import { Draw } from "../sim/draw.ts";
import { openCrashBucket } from "./bucket.ts";
import { crashCalls } from "./calls/crash-calls.ts";
import { crashOutage } from "./calls/crash-outage.ts";
import { crashCorpora } from "./corpora/crash-corpora.ts";
import { allOf, BATCH_PATH, CrashBatches } from "./batches.ts";

const KILLS = Number(process.env["CRASH_KILLS"] ?? 50);
const EMBEDDED = process.env["CRASH_DATABASE"] === "embedded";
const NODES = EMBEDDED ? 1 : Number(process.env["CRASH_NODES"] ?? 2);
const VICTIMS = Math.min(NODES, Number(process.env["CRASH_VICTIMS"] ?? NODES));
const SEED = Number(process.env["CRASH_SEED"] ?? 1);
const WITH_BUCKET = process.env["CRASH_BUCKET"] !== "false";
/** Share of joined calls that are recorded. */
const RECORDED_SHARE = 0.5;
/** Calls created concurrently. */
const CALLERS = 3;
/** From the last kill until all events are delivered: calls end, leases expire, lost nodes are noticed. */
const SETTLE_LIMIT_MS = 180_000;

interface CallRecord {
  readonly callId: string;
  readonly joinUrl: string;
  readonly joined: string | null;
  readonly ended: string | null;
  /** Deleted calls are not included: they were final. */
  readonly billingStatus?: string;
  readonly recordingEnabled?: boolean;
  readonly summary: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
}

if (process.argv.includes("--corpora")) {
  const faults = await crashCorpora({
    kills: KILLS,
    isEmbedded: EMBEDDED,
    seed: SEED,
    log: (line) => console.log(line),
  });
  console.log(
    `corpora: seed ${String(SEED)}, ${EMBEDDED ? "embedded" : "PostgreSQL"}, ${String(KILLS)} kills: ${String(faults.length)} faults`,
  );
  for (const fault of faults.slice(0, 20)) console.error(fault);
  process.exit(faults.length === 0 ? 0 : 1);
}

if (process.argv.includes("--calls") || process.argv.includes("--outage")) {
  const options = {
    nodes: EMBEDDED ? 1 : Number(process.env["CRASH_NODES"] ?? 3),
    calls: Number(process.env["CRASH_CALLS"] ?? 20),
    draw: new Draw(SEED),
    log: (line: string) => console.log(line),
  };
  const outages = Number(process.env["CRASH_KILLS"] ?? 1);
  const outageMs = Number(process.env["CRASH_OUTAGE_MS"] ?? 10_000);
  const faults = process.argv.includes("--calls")
    ? await crashCalls({ ...options, kills: KILLS, isEmbedded: EMBEDDED })
    : await crashOutage({ ...options, outages, outageMs });
  const what = process.argv.includes("--calls")
    ? `${String(KILLS)} kills`
    : `${String(outages)} outages of ${String(outageMs)} ms`;
  console.log(
    `conversations: seed ${String(SEED)}, ${EMBEDDED ? "embedded" : "PostgreSQL"}, ${String(options.nodes)} nodes, ` +
      `${String(options.calls)} calls, ${what}: ${String(faults.length)} faults`,
  );
  for (const fault of faults.slice(0, 20)) console.error(fault);
  process.exit(faults.length === 0 ? 0 : 1);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const draw = new Draw(SEED);
const random = (): number => draw.unit();
const dirs = await Promise.all(Array.from({ length: NODES }, () => mkdtemp(join(tmpdir(), "parley-crash-"))));
const bucket = WITH_BUCKET ? await openCrashBucket(new Draw(SEED)) : null;
const database = EMBEDDED ? null : await createDatabase();
const env = {
  API_KEY: "crashTst.abcdefghijklmnopqrstuvwxyzABCDEF",
  SECRETS_KEY: randomBytes(32).toString("base64"),
  ALLOW_PRIVATE_TARGETS: "127.0.0.1",
  RATE_LIMIT_PER_KEY: "0",
  RATE_LIMIT_PER_ACCOUNT: "0",
  LOG_LEVEL: "fatal",
  ...(database === null ? {} : { DATABASE_URL: database.url, NODE_ADDRESS: "http://127.0.0.1:0" }),
  ...bucket?.env,
};
const start = (node: number): Promise<ChildService> => startChildService({ dataDir: dirs[node] ?? "", env });

const notified = new Map<string, Set<string>>();
let deliveries = 0;
// Every tenth is refused the first time, so that retries are pending as well.
const refused = new Set<string>();
const batches = new CrashBatches();
const receiver = await openReceiver(({ path, body }) => {
  if (path === BATCH_PATH) return batches.hear(body);
  const { event, call, deliveryId } = deliveryOf(body);
  deliveries += 1;
  if (deliveries % 10 === 0 && !refused.has(deliveryId)) {
    refused.add(deliveryId);
    return 500;
  }
  notified.set(call.callId, (notified.get(call.callId) ?? new Set()).add(event));
  return 204;
});

const services: (ChildService | null)[] = await Promise.all(dirs.map((_, node) => start(node)));
// This also runs where this program fails: nothing that it started keeps running.
process.on("exit", () => {
  for (const service of services) {
    try {
      if (service !== null) process.kill(service.pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const anyService = (): ChildService | null => {
  const up = services.filter((service) => service !== null);
  return up[Math.floor(random() * up.length)] ?? null;
};
const anyRest = () => {
  const one = anyService();
  return one === null ? null : restOf(one);
};
await anyRest()?.("POST", "/api/webhooks", {
  url: receiver.url,
  events: ["call.started", "call.joined", "call.ended", "call.billed"],
});

const acknowledged: string[] = [];
const loaded = new AbortController();
async function load(): Promise<void> {
  while (!loaded.signal.aborted) {
    const joins = random() < 0.4;
    const recorded = joins && random() < RECORDED_SHARE ? bucket : null;
    const settings = {
      systemPrompt: "Say nothing.",
      medium: { serverWebSocket: { inputSampleRate: 16_000 } },
      firstSpeakerSettings: { user: {} },
      joinTimeout: joins ? "20s" : "1s",
      maxDuration: "2s",
      ...recorded?.settings(),
    };
    try {
      const rest = anyRest();
      // The only node is starting again.
      if (rest === null) throw new Error("no service runs");
      const call = await rest<CallRecord>("POST", "/api/calls", settings);
      acknowledged.push(call.callId);
      // Its service may be killed before it answers.
      if (recorded !== null) void recorded.join(call).catch(() => undefined);
      else if (joins) {
        const socket = new WebSocket(call.joinUrl);
        socket.on("error", () => undefined);
      }
    } catch {
      // Its service was killed meanwhile, or none runs: not acknowledged.
    }
    await pause(30 + random() * 100);
  }
}
async function loadBatches(): Promise<void> {
  while (!loaded.signal.aborted) {
    try {
      const rest = anyRest();
      if (rest !== null) await batches.make(rest, receiver.url);
    } catch {
      // Its service was killed meanwhile: not acknowledged.
    }
    await pause(3_000);
  }
}
const callers = [loadBatches(), ...Array.from({ length: CALLERS }, () => load())];

const startedMs = performance.now();
for (let kill = 1; kill <= KILLS; kill += 1) {
  await pause(200 + random() * 2_500);
  const node = Math.floor(random() * VICTIMS);
  const victim = services[node];
  if (victim === null || victim === undefined) continue;
  services[node] = null;
  process.kill(victim.pid, "SIGKILL");
  services[node] = await start(node);
  if (kill % 10 === 0)
    console.log(
      `${String(kill)} kills, ${String(acknowledged.length)} calls, ${String(deliveries)} requests`,
    );
}
loaded.abort();
await Promise.all(callers);

bucket?.settle();

/** Every call that is on record, acknowledged or not, and those that have deleted themselves. */
async function allCalls(): Promise<{ readonly there: CallRecord[]; readonly deleted: CallRecord[] }> {
  const rest = anyRest();
  if (rest === null) return { there: [], deleted: [] };
  // In this order: a call that is deleted meanwhile is in both.
  const there = await allOf<CallRecord>(rest, "/api/calls?pageSize=100");
  const deleted = await allOf<CallRecord>(rest, "/api/deleted_calls?pageSize=100");
  const gone = new Set(deleted.map(({ callId }) => callId));
  return { there: there.filter(({ callId }) => !gone.has(callId)), deleted };
}

function faultsOf(calls: readonly CallRecord[]): string[] {
  const known = new Map(calls.map((call) => [call.callId, call]));
  const faults: string[] = [];
  for (const callId of acknowledged)
    if (!known.has(callId)) faults.push(`${callId} was acknowledged and is gone`);
  for (const call of calls) {
    if (call.ended === null) faults.push(`${call.callId} has not ended`);
    else if (call.billingStatus?.endsWith("PENDING") === true) faults.push(`${call.callId} is not billed`);
    const due = [
      "call.started",
      ...(call.joined === null ? [] : ["call.joined"]),
      "call.ended",
      "call.billed",
    ];
    const heard = notified.get(call.callId) ?? new Set();
    for (const event of due) if (!heard.has(event)) faults.push(`${call.callId}: ${event} was not delivered`);
    for (const event of heard) if (!due.includes(event)) faults.push(`${call.callId}: ${event} was invented`);
  }
  for (const callId of notified.keys())
    if (!known.has(callId)) faults.push(`${callId} does not exist, and was told of`);
  return faults;
}

const deadline = performance.now() + SETTLE_LIMIT_MS;
let calls = await allCalls();
const allFaults = async (): Promise<string[]> => {
  const service = anyService();
  if (service === null) return ["no service runs"];
  const rest = restOf(service);
  return [
    ...faultsOf([...calls.there, ...calls.deleted]),
    ...(await batches.faults(rest, calls.there)),
    ...((await bucket?.faults(service, rest, calls.there, dirs)) ?? []),
  ];
};
let faults = await allFaults();
while (faults.length > 0 && performance.now() < deadline) {
  await pause(2_000);
  calls = await allCalls();
  faults = await allFaults();
}
await Promise.all(services.flatMap((service) => (service === null ? [] : [service.stop()])));
await receiver.close();
await bucket?.close();
await database?.drop();
await Promise.all(dirs.map((dir) => rm(dir, { recursive: true, force: true })));

const joined = [...calls.there, ...calls.deleted].filter((call) => call.joined !== null).length;
console.log(
  `seed ${String(SEED)}, ${EMBEDDED ? "embedded" : "PostgreSQL"}, ${String(NODES)} nodes, ${String(KILLS)} kills of ${String(VICTIMS)} in ` +
    `${((performance.now() - startedMs) / 1000).toFixed(0)} s: ${String(calls.there.length + calls.deleted.length)} calls (${String(joined)} joined), ` +
    `${String(calls.deleted.length)} deleted by themselves, ${bucket === null ? "" : `${bucket.summary()}, `}` +
    `${String(deliveries)} requests, ${batches.summary()}, ${String(faults.length)} faults`,
);
for (const fault of faults.slice(0, 20)) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
