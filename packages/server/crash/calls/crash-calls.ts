/**
 * `npm run crash -- --calls`: kills services at random moments of conversations. Every client comes back at a random
 * address. Afterwards each call has its history up to the last answer that its client heard, exactly one end, and no tool
 * was called twice.
 */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase } from "../../bench/jobs-store.ts";
import { restOf, startChildService, type ChildService, type Rest } from "../../demo/child-service.ts";
import type { Draw } from "../../sim/draw.ts";
import { allOf } from "../batches.ts";
import { Conversation } from "./conversation.ts";

export interface CrashCallsOptions {
  readonly kills: number;
  readonly nodes: number;
  readonly calls: number;
  readonly isEmbedded: boolean;
  readonly draw: Draw;
  readonly log: (line: string) => void;
}

interface CallRecord {
  readonly callId: string;
  readonly joinUrl: string;
  readonly ended: string | null;
  readonly endReason: string | null;
}

/** Calls end, and orphans are given up, within this. */
const SETTLE_LIMIT_MS = 120_000;
const INVOCATION_HEADER = "x-service-invocation-id";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Counts the requests of each invocation. */
async function openCounter() {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const id = String(request.headers[INVOCATION_HEADER] ?? "none");
    counts.set(id, (counts.get(id) ?? 0) + 1);
    request.resume();
    setTimeout(() => response.end("counted"), 300);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { counts, url: `http://127.0.0.1:${String(port)}/count`, close: () => server.close() };
}

/** Services that are killed and started again. */
class Services {
  readonly #dirs: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #random: () => number;
  readonly #running: (ChildService | null)[] = [];

  constructor(dirs: readonly string[], env: Readonly<Record<string, string>>, random: () => number) {
    this.#dirs = dirs;
    this.#env = env;
    this.#random = random;
    // This also runs where this program fails: nothing that it started keeps running.
    process.on("exit", () => {
      for (const service of this.#running) if (service !== null) killProcess(service);
    });
  }

  async startAll(): Promise<void> {
    for (let node = 0; node < this.#dirs.length; node += 1) this.#running.push(await this.#start(node));
  }

  readonly any = (): ChildService | null => {
    const up = this.#running.filter((service) => service !== null);
    return up[Math.floor(this.#random() * up.length)] ?? null;
  };

  async killOne(): Promise<void> {
    const node = Math.floor(this.#random() * this.#dirs.length);
    const victim = this.#running[node];
    if (victim === null || victim === undefined) return;
    this.#running[node] = null;
    killProcess(victim);
    await victim.exited;
    this.#running[node] = await this.#start(node);
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#running.flatMap((service) => (service === null ? [] : [service.stop()])));
  }

  #start(node: number): Promise<ChildService> {
    return startChildService({ dataDir: this.#dirs[node] ?? "", env: this.#env });
  }
}

/** @returns the faults */
export async function crashCalls(options: CrashCallsOptions): Promise<readonly string[]> {
  const { nodes, isEmbedded, draw } = options;
  const counter = await openCounter();
  const database = isEmbedded ? null : await createDatabase();
  const dirs = await Promise.all(
    Array.from({ length: nodes }, () => mkdtemp(join(tmpdir(), "parley-crash-"))),
  );
  const env = {
    API_KEY: "crashTst.abcdefghijklmnopqrstuvwxyzABCDEF",
    SECRETS_KEY: randomBytes(32).toString("base64"),
    ALLOW_PRIVATE_TARGETS: "127.0.0.1",
    RATE_LIMIT_PER_KEY: "0",
    RATE_LIMIT_PER_ACCOUNT: "0",
    LOG_LEVEL: "fatal",
    ...(database === null ? {} : { DATABASE_URL: database.url }),
  };
  const services = new Services(dirs, env, () => draw.unit());
  await services.startAll();
  const known = await converse(options, services, counter.url);
  const service = services.any();
  const faults =
    service === null ? ["no service runs"] : await faultsOf(restOf(service), known, counter.counts);
  report(options, known, counter.counts.size);
  await services.stopAll();
  counter.close();
  await database?.drop();
  await Promise.all(dirs.map((dir) => rm(dir, { recursive: true, force: true })));
  return faults;
}

/** Conversations under kills; returns them when they are over. */
async function converse(
  { kills, calls, draw, log }: CrashCallsOptions,
  services: Services,
  toolUrl: string,
): Promise<ReadonlyMap<string, Conversation>> {
  const random = (): number => draw.unit();
  const known = new Map<string, Conversation>();
  const running: Promise<void>[] = [];
  for (let call = 0; call < calls; call += 1) {
    const service = services.any();
    if (service === null) throw new Error("no service runs");
    const { callId, joinUrl } = await restOf(service)<CallRecord>("POST", "/api/calls", settings(toolUrl));
    const conversation = new Conversation({
      owner: service,
      joinUrl,
      anyService: services.any,
      random,
      toolEvery: 3,
    });
    known.set(callId, conversation);
    running.push(conversation.run());
  }
  for (let kill = 1; kill <= kills; kill += 1) {
    await pause(1_500 + random() * 4_000);
    await services.killOne();
    const over = [...known.values()].filter((one) => one.over !== null).length;
    log(`${String(kill)} kills, ${String(calls - over)} of ${String(calls)} calls go on`);
  }
  await pause(10_000);
  for (const conversation of known.values()) conversation.stop();
  await Promise.all(running);
  return known;
}

function report({ log }: CrashCallsOptions, known: ReadonlyMap<string, Conversation>, tools: number): void {
  const all = [...known.values()];
  const speech = all.flatMap(({ speechAgainMs }) => speechAgainMs).toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (speech[Math.floor((speech.length - 1) * share)] ?? Number.NaN).toFixed(0);
  const turns = all.reduce((sum, { completed }) => sum + completed.length, 0);
  log(
    `${String(turns)} turns, ${String(tools)} tool calls, ${String(speech.length)} returns; speech again after ` +
      `${at(0.5)} ms (median), ${at(0.95)} ms (p95)`,
  );
}

function settings(toolUrl: string): object {
  return {
    systemPrompt: "Answer briefly.",
    medium: { serverWebSocket: { inputSampleRate: 16_000, dataMessages: { callEvent: true } } },
    firstSpeakerSettings: { user: {} },
    joinTimeout: "60s",
    maxDuration: "3600s",
    selectedTools: [
      {
        temporaryTool: {
          modelToolName: "count",
          description: "Counts.",
          timeout: "10s",
          http: { baseUrlPattern: toolUrl, httpMethod: "POST" },
        },
      },
    ],
  };
}

function killProcess({ pid }: ChildService): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

async function faultsOf(
  rest: Rest,
  known: ReadonlyMap<string, Conversation>,
  counts: ReadonlyMap<string, number>,
): Promise<string[]> {
  const faults: string[] = [];
  for (const [id, count] of counts)
    if (count > 1) faults.push(`the tool call ${id} was sent ${String(count)} times`);
  const untilMs = performance.now() + SETTLE_LIMIT_MS;
  for (const [callId, conversation] of known) {
    let call = await rest<CallRecord>("GET", `/api/calls/${callId}`);
    while (call.ended === null && performance.now() < untilMs) {
      await pause(1_000);
      call = await rest<CallRecord>("GET", `/api/calls/${callId}`);
    }
    if (call.ended === null) faults.push(`${callId} has not ended`);
    else if (call.endReason !== "hangup") faults.push(`${callId} ended with ${String(call.endReason)}`);
    const ends = await allOf<{ type: string }>(rest, `/api/calls/${callId}/events?pageSize=100`);
    const ended = ends.filter(({ type }) => type === "call.ended").length;
    if (ended !== 1) faults.push(`${callId} has ${String(ended)} ends`);
    const texts = (await allOf<{ text: string }>(rest, `/api/calls/${callId}/messages?pageSize=100`))
      .map(({ text }) => text)
      .join("\n");
    let from = 0;
    for (const said of conversation.completed) {
      const at = texts.indexOf(said, from);
      if (at === -1) faults.push(`${callId}: an answered turn is not on record: ${said}`);
      else from = at;
    }
  }
  return faults;
}
