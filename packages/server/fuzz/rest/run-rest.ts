/**
 * Sends random requests to every operation of a service of its own. Faults are: an answer with 500 or none, one that is
 * no JSON, a failure that is no problem document, an error that the service logs, and a service that fails afterwards.
 */

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ROUTE_NAMES, type RouteName } from "@parley/schema";
import { Agent as HttpAgent } from "undici";
import { startChildService, type ChildService } from "../../demo/child-service.ts";
import { type DrawnRequest, RequestDraw } from "./draw-request.ts";

const CONNECTIONS = 16;
/** Failures shown; the first few are enough. */
const FAILURES_SHOWN = 20;
/** No operation here takes longer; one that does has a slow query. */
const SLOW_MS = 1_000;
const ANSWER_LIMIT_MS = 30_000;

interface Tally {
  readonly statuses: Map<number, number>;
  /** Operations that succeeded at least once. */
  readonly succeeded: Set<RouteName>;
  readonly failures: string[];
  readonly slow: string[];
  slowestMs: number;
  sent: number;
}

export interface RestFuzzOptions {
  readonly requests: number;
  readonly seed: number;
  /** Address of an empty PostgreSQL database; null: embedded. */
  readonly database: string | null;
}

interface Sending {
  readonly dispatcher: HttpAgent;
  readonly origin: string;
  readonly tally: Tally;
}

/** @returns the number of faults, which are printed */
export async function runRestFuzz({ requests, seed, database }: RestFuzzOptions): Promise<number> {
  const own = `fuzzfuzz.${randomBytes(16).toString("hex")}`;
  const errorsLogged: string[] = [];
  const service = await startFuzzedService(own, database, (line) => {
    if (errorsLogged.length < FAILURES_SHOWN) errorsLogged.push(line);
  });
  const dispatcher = new HttpAgent({
    connections: CONNECTIONS,
    pipelining: 1,
    bodyTimeout: ANSWER_LIMIT_MS,
    headersTimeout: ANSWER_LIMIT_MS,
  });
  const tally: Tally = {
    statuses: new Map(),
    succeeded: new Set(),
    failures: [],
    slow: [],
    slowestMs: 0,
    sent: 0,
  };
  try {
    const other = await secondKey(service.baseUrl, own);
    const draw = new RequestDraw(seed, { own, other });
    const memory = [await residentMb(service)];
    const startedMs = performance.now();
    const sample = Math.max(1, Math.floor(requests / 10));
    const worker = async (): Promise<void> => {
      while (tally.sent < requests) {
        tally.sent += 1;
        if (tally.sent % sample === 0) memory.push(await residentMb(service));
        await send(draw.next(), draw, { dispatcher, origin: service.baseUrl, tally });
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
    const seconds = (performance.now() - startedMs) / 1000;
    const ready = await fetch(`${service.baseUrl}/readyz`);
    console.log(`${String(tally.sent)} requests in ${seconds.toFixed(1)} s, seed ${String(seed)}`);
    print(tally, memory);
    for (const line of errorsLogged) console.log(`  LOGGED: ${line.slice(0, 1000)}`);
    const failed = tally.failures.length + errorsLogged.length + (ready.ok ? 0 : 1);
    console.log(`${String(failed)} failed`);
    return failed;
  } finally {
    await dispatcher.close();
    await service.stop();
  }
}

function startFuzzedService(
  apiKey: string,
  database: string | null,
  onError: (line: string) => void,
): Promise<ChildService> {
  return startChildService({
    env: {
      API_KEY: apiKey,
      RATE_LIMIT_PER_KEY: "0",
      RATE_LIMIT_PER_ACCOUNT: "0",
      LOG_LEVEL: "error",
      // An accidental call reaches no one on this machine and never leaves it.
      ALLOW_PRIVATE_TARGETS: "127.0.0.1",
      MAX_LIVE_CALLS: "100000",
      MAX_JOIN_TIMEOUT_MS: "2000",
      ...(database === null
        ? {}
        : { DATABASE_URL: database, SECRETS_KEY: randomBytes(32).toString("base64") }),
    },
    onLine: (line) => {
      if (/"level":(?:50|60)/.test(line)) onError(line);
    },
  });
}

function print(tally: Tally, memory: readonly number[]): void {
  const counts = [...tally.statuses].sort(([a], [b]) => a - b);
  console.log(
    `answers: ${counts.map(([status, count]) => `${String(status)} × ${String(count)}`).join(", ")}`,
  );
  const never = ROUTE_NAMES.filter((name) => !tally.succeeded.has(name));
  console.log(`operations that never succeeded: ${never.length === 0 ? "none" : never.join(", ")}`);
  console.log(
    `slowest ${tally.slowestMs.toFixed(0)} ms; over ${String(SLOW_MS)} ms: ${String(tally.slow.length)}`,
  );
  console.log(`resident memory, MB: ${memory.map((mb) => mb.toFixed(0)).join(" ")}`);
  for (const line of tally.slow.slice(0, FAILURES_SHOWN)) console.log(`  slow: ${line}`);
  for (const line of tally.failures.slice(0, FAILURES_SHOWN)) console.log(`  FAILED: ${line}`);
}

async function send(
  request: DrawnRequest,
  draw: RequestDraw,
  { dispatcher, origin, tally }: Sending,
): Promise<void> {
  const { method, path, headers, body } = request;
  const title = `${method} ${path.slice(0, 200)} ${String(body ?? "").slice(0, 600)}`;
  const startedMs = performance.now();
  try {
    const answer = await dispatcher.request({
      origin,
      path,
      method,
      headers,
      ...(body === null ? {} : { body }),
    });
    const text = await answer.body.text();
    const problem = faultOf(answer.statusCode, String(answer.headers["content-type"] ?? ""), text, method);
    if (problem !== null) tally.failures.push(`${problem}: ${title}\n    ${text.slice(0, 300)}`);
    tally.statuses.set(answer.statusCode, (tally.statuses.get(answer.statusCode) ?? 0) + 1);
    if (answer.statusCode < 300) tally.succeeded.add(request.name);
    if (
      answer.statusCode < 300 &&
      method !== "HEAD" &&
      String(answer.headers["content-type"]).startsWith("application/json")
    )
      draw.learn(JSON.parse(text), request.params);
  } catch (error) {
    tally.failures.push(`no answer (${String(error)}): ${title}`);
  }
  const tookMs = performance.now() - startedMs;
  tally.slowestMs = Math.max(tally.slowestMs, tookMs);
  if (tookMs > SLOW_MS) tally.slow.push(`${tookMs.toFixed(0)} ms: ${title}`);
}

/** Why an answer is wrong for any request; null when it may be right. */
function faultOf(status: number, type: string, text: string, method: string): string | null {
  if (status === 500 || status === 502 || status === 504) return `answered ${String(status)}`;
  if (status < 400 || method === "HEAD") return null;
  if (!type.startsWith("application/problem+json")) return `a failure of type ${type}`;
  try {
    const { code, detail, requestId } = JSON.parse(text) as Record<string, unknown>;
    const isWhole = [code, detail, requestId].every((member) => typeof member === "string" && member !== "");
    return isWhole ? null : "a failure without its parts";
  } catch {
    return "a failure that is no JSON";
  }
}

async function residentMb({ pid }: ChildService): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** A key of the same account: what it creates and revokes does not matter, and the first key keeps working. */
async function secondKey(baseUrl: string, own: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/api_keys`, {
    method: "POST",
    headers: { "x-api-key": own, "content-type": "application/json" },
    body: JSON.stringify({ name: "second" }),
  });
  return ((await answer.json()) as { secret: string }).secret;
}
