/**
 * `npm run fuzz`: random requests to every operation of a running service, 100,000 of them. Ends with 1 when any of
 * them is answered with 500 or not at all, when an answer is no JSON or a failure is no problem document, when the
 * service logs an error, or when it fails afterwards. Options: `--requests 100000`, `--seed 1`,
 * `--database <postgres url>` (an empty database; default: embedded).
 */

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { ROUTE_NAMES, type RouteName } from "@parley/schema";
import { Agent as HttpAgent } from "undici";
import { startChildService, type ChildService } from "../demo/child-service.ts";
import { type DrawnRequest, RequestDraw } from "./draw-request.ts";

const DEFAULT_REQUESTS = 100_000;
const MAX_REQUESTS = 10_000_000;
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

const { values } = parseArgs({
  options: { requests: { type: "string" }, seed: { type: "string" }, database: { type: "string" } },
});
const requests = Math.min(Number(values.requests ?? DEFAULT_REQUESTS), MAX_REQUESTS);
const seed = Number(values.seed ?? "1");

const own = `fuzzfuzz.${randomBytes(16).toString("hex")}`;
const errorsLogged: string[] = [];
const service = await startChildService({
  env: {
    API_KEY: own,
    RATE_LIMIT_PER_KEY: "0",
    RATE_LIMIT_PER_ACCOUNT: "0",
    LOG_LEVEL: "error",
    // An accidental call reaches no one on this machine and never leaves it.
    ALLOW_PRIVATE_TARGETS: "127.0.0.1",
    MAX_LIVE_CALLS: "100000",
    MAX_JOIN_TIMEOUT_MS: "2000",
    ...(values.database === undefined
      ? {}
      : { DATABASE_URL: values.database, SECRETS_KEY: randomBytes(32).toString("base64") }),
  },
  onLine: (line) => {
    if (/"level":(?:50|60)/.test(line) && errorsLogged.length < FAILURES_SHOWN) errorsLogged.push(line);
  },
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

async function send(request: DrawnRequest, draw: RequestDraw): Promise<void> {
  const { method, path, headers, body } = request;
  const title = `${method} ${path.slice(0, 200)} ${String(body ?? "").slice(0, 600)}`;
  const startedMs = performance.now();
  try {
    const answer = await dispatcher.request({
      origin: service.baseUrl,
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
async function secondKey(): Promise<string> {
  const answer = await fetch(`${service.baseUrl}/api/api_keys`, {
    method: "POST",
    headers: { "x-api-key": own, "content-type": "application/json" },
    body: JSON.stringify({ name: "second" }),
  });
  return ((await answer.json()) as { secret: string }).secret;
}

try {
  const draw = new RequestDraw(seed, { own, other: await secondKey() });
  const memory = [await residentMb(service)];
  const startedMs = performance.now();
  const sample = Math.max(1, Math.floor(requests / 10));
  const worker = async (): Promise<void> => {
    while (tally.sent < requests) {
      tally.sent += 1;
      if (tally.sent % sample === 0) memory.push(await residentMb(service));
      await send(draw.next(), draw);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const seconds = (performance.now() - startedMs) / 1000;
  const ready = await fetch(`${service.baseUrl}/readyz`);
  const counts = [...tally.statuses].sort(([a], [b]) => a - b);
  console.log(`${String(tally.sent)} requests in ${seconds.toFixed(1)} s, seed ${String(seed)}`);
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
  for (const line of errorsLogged) console.log(`  LOGGED: ${line.slice(0, 1000)}`);
  const failed = tally.failures.length + errorsLogged.length + (ready.ok ? 0 : 1);
  console.log(`${String(failed)} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  await dispatcher.close();
  await service.stop();
}
