/**
 * `npm run bench:restarts`: a rolling restart under calls in which the agent speaks all the time. Three nodes on one
 * PostgreSQL are stopped by SIGTERM and started again, one after the other. RESTART_CALLS (100), RESTART_NODES (3) and
 * RESTART_ROUNDS (1) change the run; `-- --no-page` only prints the figures. Exits with 1 when a call was ended by it.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openCaller, type Caller } from "../../demo/caller.ts";
import { restOf, startChildService, type ChildService, type Rest } from "../../demo/child-service.ts";
import { createDatabase } from "../jobs-store.ts";
import { milliseconds, percentile, publish } from "../report.ts";

const CALLS = Number(process.env["RESTART_CALLS"] ?? 100);
const NODES = Number(process.env["RESTART_NODES"] ?? 3);
const ROUNDS = Number(process.env["RESTART_ROUNDS"] ?? 1);
/** As a balancer looks at its nodes. */
const HEALTH_CHECK_MS = 500;
/** Between a node that is ready again and the stop of the next one. */
const SETTLE_MS = 5_000;
/** Calls join over so long, so that their sentences end at different times. */
const SPREAD_MS = 10_000;
const END_LIMIT_MS = 60_000;
/** A node that has not stopped by then is killed, and its calls wait for the end of its lease. */
const STOP_LIMIT_MS = 60_000;
const API_KEY = "restarts.abcdefghijklmnopqrstuvwxyzABCDEF";
/** Two to four seconds each. */
const SENTENCES = [
  "The hotel has forty rooms, and all of them look at the sea.",
  "Breakfast is from seven to ten in the garden.",
  "Dinner is at eight, and the kitchen has fish from the harbour every day of the week.",
  "The station is ten minutes away on foot.",
];
const STORY = Array.from({ length: 5 }, () => SENTENCES.join(" ")).join(" ");

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The nodes, and which of them a balancer would choose. */
class Nodes {
  readonly #env: Readonly<Record<string, string>>;
  readonly #dirs: readonly string[];
  readonly #running: (ChildService | null)[] = [];
  readonly #ready = new Set<number>();
  readonly #checks: NodeJS.Timeout;
  #next = 0;

  constructor(dirs: readonly string[], env: Readonly<Record<string, string>>) {
    this.#dirs = dirs;
    this.#env = env;
    this.#checks = setInterval(() => void this.#look(), HEALTH_CHECK_MS);
    // This also runs where this program fails: nothing that it started keeps running.
    process.on("exit", () => {
      for (const service of this.#running) if (service !== null) signal(service, "SIGKILL");
    });
  }

  async start(node: number): Promise<void> {
    const program = fileURLToPath(new URL("../bench-service.ts", import.meta.url));
    this.#running[node] = await startChildService({
      dataDir: this.#dirs[node] ?? "",
      program,
      env: this.#env,
    });
    this.#ready.add(node);
  }

  /** In turns. */
  readonly address = (): string => {
    const ready = [...this.#ready].toSorted((a, b) => a - b);
    this.#next += 1;
    const service = this.#running[ready[this.#next % ready.length] ?? 0];
    return service?.baseUrl ?? "http://127.0.0.1:1";
  };

  rest(): Rest {
    return restOf({ baseUrl: this.address(), apiKey: API_KEY });
  }

  /** Returns how long the node took to stop. */
  async restart(node: number): Promise<number> {
    const fromMs = performance.now();
    const service = this.#running[node];
    if (service === null || service === undefined) throw new Error("the node does not run");
    signal(service, "SIGTERM");
    const killer = setTimeout(() => signal(service, "SIGKILL"), STOP_LIMIT_MS);
    await service.exited;
    clearTimeout(killer);
    this.#running[node] = null;
    this.#ready.delete(node);
    const tookMs = performance.now() - fromMs;
    await this.start(node);
    return tookMs;
  }

  async close(): Promise<void> {
    clearInterval(this.#checks);
    await Promise.all(this.#running.flatMap((service) => (service === null ? [] : [service.stop()])));
  }

  async #look(): Promise<void> {
    await Promise.all(
      this.#running.map(async (service, node) => {
        const ok =
          service !== null && (await fetch(`${service.baseUrl}/readyz`).catch(() => null))?.ok === true;
        if (ok) this.#ready.add(node);
        else this.#ready.delete(node);
      }),
    );
  }
}

function signal({ pid }: ChildService, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended already.
  }
}

/** A caller whose agent speaks all the time. */
class Listener {
  readonly callId: string;
  longestMs = 0;
  /** The close code of a call that has ended by itself; null: it goes on. */
  endedWith: number | null = null;
  #lastMs: number | null = null;
  #caller: Caller | null = null;
  #isStopped = false;

  constructor(callId: string) {
    this.callId = callId;
  }

  async start(joinUrl: () => string): Promise<void> {
    const caller = await openCaller({
      joinUrl,
      sampleRateHz: 16_000,
      returns: true,
      onAudio: (_frame, atMs) => this.#hear(atMs),
      onMessage: ({ type, state }) => {
        if (type === "state" && state === "listening") this.#tell();
      },
    });
    this.#caller = caller;
    this.#tell();
    void caller.closed.then((code) => {
      if (!this.#isStopped) this.endedWith = code;
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#caller?.hangUp();
    await this.#caller?.closed;
  }

  #tell(): void {
    try {
      this.#caller?.send({ type: "forced_agent_message", content: STORY, urgency: "soon" });
    } catch {
      // The connection was closed in this moment. The next one has a state message as well.
    }
  }

  #hear(atMs: number): void {
    if (this.#lastMs !== null) this.longestMs = Math.max(this.longestMs, atMs - this.#lastMs);
    this.#lastMs = atMs;
  }
}

async function faultOf(rest: Rest, { callId, endedWith }: Listener): Promise<string | null> {
  if (endedWith !== null) return `${callId} was closed with ${String(endedWith)}`;
  const untilMs = performance.now() + END_LIMIT_MS;
  for (;;) {
    const call = await rest<{ ended: string | null; endReason: string | null }>(
      "GET",
      `/api/calls/${callId}`,
    );
    if (call.ended !== null)
      return call.endReason === "hangup" ? null : `${callId} ended with ${String(call.endReason)}`;
    if (performance.now() > untilMs) return `${callId} has not ended`;
    await pause(500);
  }
}

const database = await createDatabase();
const dirs = await Promise.all(
  Array.from({ length: NODES }, () => mkdtemp(join(tmpdir(), "parley-restarts-"))),
);
const nodes = new Nodes(dirs, {
  API_KEY,
  SECRETS_KEY: Buffer.alloc(32, 1).toString("base64"),
  DATABASE_URL: database.url,
  NODE_ADDRESS: "http://127.0.0.1:0",
  RATE_LIMIT_PER_KEY: "0",
  RATE_LIMIT_PER_ACCOUNT: "0",
  LOG_LEVEL: "error",
});
for (let node = 0; node < NODES; node += 1) await nodes.start(node);

const listeners: Listener[] = [];
for (let call = 0; call < CALLS; call += 1) {
  const { callId, joinUrl } = await nodes.rest()<{ callId: string; joinUrl: string }>("POST", "/api/calls", {
    medium: { serverWebSocket: { inputSampleRate: 16_000 } },
    firstSpeakerSettings: { user: {} },
    maxDuration: "3600s",
  });
  const listener = new Listener(callId);
  listeners.push(listener);
  await listener.start(() => nodes.address().replace("http", "ws") + new URL(joinUrl).pathname);
  await pause(SPREAD_MS / CALLS);
}
await pause(SETTLE_MS);
for (const listener of listeners) listener.longestMs = 0;
await pause(SETTLE_MS);
const before = listeners.map(({ longestMs }) => longestMs);
const stops: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  for (let node = 0; node < NODES; node += 1) {
    stops.push(await nodes.restart(node));
    await pause(SETTLE_MS);
  }
}
const silences = listeners.map(({ longestMs }) => longestMs);
await Promise.all(listeners.map((listener) => listener.stop()));
const rest = nodes.rest();
const faults: string[] = [];
for (const listener of listeners) {
  const fault = await faultOf(rest, listener);
  if (fault !== null) faults.push(fault);
}
await nodes.close();
await database.drop();
await Promise.all(dirs.map((dir) => rm(dir, { recursive: true, force: true })));

const row = (name: string, values: readonly number[]): string =>
  `| ${name} | ${[0.5, 0.95, 1].map((share) => milliseconds(percentile(values, share))).join(" | ")} |`;
const report = `${String(CALLS)} calls in which the agent speaks all the time, ${String(NODES)} nodes, ${String(stops.length)} restarts: ${String(faults.length)} calls ended by them.

| | p50 | p95 | most |
|---|---|---|---|
${row("longest silence of a call without a restart, ms", before)}
${row("longest silence of a call in the rolling restart, ms", silences)}
${row("from SIGTERM to the end of the process, ms", stops)}`;
for (const fault of faults.slice(0, 20)) console.error(fault);
if (process.argv.includes("--no-page")) console.log(report);
else await publish("bench:restarts", report);
process.exit(faults.length === 0 ? 0 : 1);
