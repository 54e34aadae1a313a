/** Conversations on services of their own, while something happens to those, and what is wrong afterwards. */

import { randomBytes } from "node:crypto";
import { appendFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { restOf } from "../../demo/child-service.ts";
import type { Draw } from "../../sim/draw.ts";
import { faultsOf, type CallRecord } from "./call-faults.ts";
import { Conversation } from "./conversation.ts";
import { openCountingEngines } from "./counting-engines.ts";
import { Services } from "./services.ts";
import { openToolCounter } from "./tool-counter.ts";

export interface ConversationsOptions {
  readonly nodes: number;
  readonly calls: number;
  /** Null: the embedded database, on one node. */
  readonly databaseUrl: string | null;
  readonly draw: Draw;
  readonly log: (line: string) => void;
}

export interface World {
  readonly services: Services;
  /** By the id of the call. */
  readonly conversations: ReadonlyMap<string, Conversation>;
}

/** A conversation has begun in most calls. */
const BEFORE_MS = 5_000;
/** The last killed service runs again, and most clients are back. */
const AFTER_MS = 10_000;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** @returns the faults */
export async function withConversations(
  options: ConversationsOptions,
  happen: (world: World) => Promise<void>,
): Promise<readonly string[]> {
  const { nodes, databaseUrl, draw, log } = options;
  await using opened = new AsyncDisposableStack();
  const counter = await openToolCounter();
  opened.defer(() => counter.close());
  const engines = await openCountingEngines();
  opened.defer(() => engines.close());
  const dirs = await Promise.all(
    Array.from({ length: nodes }, () => mkdtemp(join(tmpdir(), "parley-crash-"))),
  );
  for (const dir of dirs) opened.defer(() => rm(dir, { recursive: true, force: true }));
  const env = {
    API_KEY: "crashTst.abcdefghijklmnopqrstuvwxyzABCDEF",
    SECRETS_KEY: randomBytes(32).toString("base64"),
    ALLOW_PRIVATE_TARGETS: "127.0.0.1",
    RATE_LIMIT_PER_KEY: "0",
    RATE_LIMIT_PER_ACCOUNT: "0",
    ...engines.env,
    LOG_LEVEL: "info",
    ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl, NODE_ADDRESS: "http://127.0.0.1:0" }),
  };
  const services = new Services(dirs, env, () => draw.unit(), keepLine);
  await services.startAll();
  opened.defer(() => services.stopAll());
  const running: Promise<void>[] = [];
  const conversations = await begin(options, services, counter.tool, running);
  await pause(BEFORE_MS);
  await happen({ services, conversations });
  await pause(AFTER_MS);
  for (const conversation of conversations.values()) conversation.stop();
  await Promise.all(running);
  log(figuresOf([...conversations.values()], counter.counts.size));
  const service = services.any();
  return service === null
    ? ["no service runs"]
    : await faultsOf(restOf(service), conversations, counter.counts);
}

/** CRASH_LOG names a file for the lines of the services. */
function keepLine(node: number, line: string): void {
  const file = process.env["CRASH_LOG"];
  if (file !== undefined) appendFileSync(file, `${String(node)} ${line}\n`);
}

async function begin(
  { calls, draw }: ConversationsOptions,
  services: Services,
  tool: object,
  running: Promise<void>[],
): Promise<ReadonlyMap<string, Conversation>> {
  const random = (): number => draw.unit();
  const known = new Map<string, Conversation>();
  for (let call = 0; call < calls; call += 1) {
    const service = services.any();
    if (service === null) throw new Error("no service runs");
    const { callId, joinUrl } = await restOf(service)<CallRecord>("POST", "/api/calls", settings(tool));
    const conversation = new Conversation({ joinUrl, anyService: services.any, random });
    known.set(callId, conversation);
    running.push(conversation.run());
  }
  return known;
}

function settings(tool: object): object {
  return {
    systemPrompt: "Answer briefly.",
    medium: { serverWebSocket: { inputSampleRate: 16_000, dataMessages: { callEvent: true } } },
    firstSpeakerSettings: { user: {} },
    joinTimeout: "60s",
    maxDuration: "3600s",
    selectedTools: [{ temporaryTool: tool }],
  };
}

function figuresOf(all: readonly Conversation[], tools: number): string {
  const sum = (of: (one: Conversation) => number): string =>
    String(all.reduce((total, one) => total + of(one), 0));
  const away = all.flatMap(({ awayMs }) => awayMs);
  const speech = all.flatMap(({ speechAgainMs }) => speechAgainMs);
  const turns = `${sum(({ completed }) => completed.length)} of ${sum(({ asked }) => asked)} turns answered`;
  const returns = away.length === 0 ? "no connection lost" : `${String(away.length)} returns`;
  const times = away.length === 0 ? "" : `; back after ${spread(away)}; speech again after ${spread(speech)}`;
  return `${turns}, ${String(tools)} tool calls, ${returns}${times}`;
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(0);
  return `${at(0.5)} ms (median), ${at(0.95)} ms (p95), ${at(1)} ms (longest)`;
}
