/**
 * `npm run bench:one-key`: whether the calls of others stutter while one API key sends what takes longest to check: the
 * jitter of live websocket calls, and the delay of the event loop, without and with each attack.
 */

import { Agent as HttpAgent } from "undici";
import { makeAgent, pause, runLoad, speechClip } from "../load.ts";
import { milliseconds, percentile, publish } from "../report.ts";
import { type BenchService, startBenchService } from "../service.ts";

const DELAYS = { sttMs: 20, llmMs: 20, ttsMs: 20 };
const CALLS = 10;
const TURNS = 2;
const TURN_EVERY_MS = 6_000;
/** Requests that the key has open at a time. */
const AT_ONCE = 20;
/** Between two of them on one connection: together the 200 a second that RATE_LIMIT_PER_KEY allows. */
const REQUEST_EVERY_MS = 100;
const LIMIT_MS = 25;

interface Attack {
  readonly name: string;
  /** Sends one request; its status. */
  readonly send: () => Promise<number>;
}

async function attacksOn(service: BenchService): Promise<Attack[]> {
  const client = new HttpAgent({ connections: AT_ONCE });
  const post = async (path: string, type: string, body: string): Promise<number> => {
    const headers = { "x-api-key": service.apiKey, "content-type": type };
    const answer = await client.request({ origin: service.baseUrl, method: "POST", path, headers, body });
    await answer.body.dump();
    return answer.statusCode;
  };
  const checked = async (name: string, schema: object, value: unknown): Promise<Attack> => {
    const contextSchema = { properties: { a: schema } };
    const path = `/api/agents/${await makeAgent(service.rest, { contextSchema })}/calls`;
    const body = JSON.stringify({ templateContext: { a: value } });
    return { name, send: () => post(path, "application/json", body) };
  };
  const file = (content: string): string =>
    `--B\r\nContent-Disposition: form-data; name="file"; filename="x.yaml"\r\n\r\n${content}\r\n--B--\r\n`;
  const imported = (name: string, content: string): Attack => ({
    name,
    send: () => post("/api/tools", "multipart/form-data; boundary=B", file(content)),
  });
  const text = `${"a".repeat(60)}!`;
  return [
    await checked("a pattern for which others backtrack", { type: "string", pattern: "^(a+)+$" }, text),
    await checked("a pattern that needs backtracking", { type: "string", pattern: "^(?=(a+)+$)" }, text),
    await checked(
      "a list of 40,000 different numbers",
      { type: "array", uniqueItems: true },
      Array.from({ length: 40_000 }, (_, index) => index),
    ),
    imported("YAML with keys within keys", "? ".repeat(20_000)),
  ];
}

async function underLoad(service: BenchService, attack: Attack | null): Promise<string> {
  const clip = await speechClip("cards_001");
  const state = { isOver: attack === null };
  const answers = new Map<number, number>();
  const sender = async (_: unknown, index: number): Promise<void> => {
    await pause((REQUEST_EVERY_MS * index) / AT_ONCE);
    while (!state.isOver) {
      const [status = 0] = await Promise.all([attack?.send(), pause(REQUEST_EVERY_MS)]);
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }
  };
  service.takeFigures();
  const senders = Array.from({ length: AT_ONCE }, sender);
  const load = { rest: service.rest, calls: CALLS, turns: TURNS, turnEveryMs: TURN_EVERY_MS };
  const result = await runLoad({ ...load, spreadMs: TURN_EVERY_MS, clip });
  state.isOver = true;
  await Promise.all(senders);
  const loops = service.takeFigures().map((second) => second.loopP99Ms);
  const counts = [...answers].map(([status, count]) => `${String(count)} × ${String(status)}`).join(", ");
  return (
    `| ${attack?.name ?? "none"} | ${counts || "–"} | ${milliseconds(percentile(result.jitterMs, 0.99))} | ` +
    `${milliseconds(percentile(loops, 0.5))} | ${milliseconds(Math.max(...loops))} | ` +
    `${String(result.failedTurns + result.failedCalls)} |`
  );
}

const service = await startBenchService(DELAYS);
try {
  // Warm-up: code is compiled, pools and caches fill.
  await underLoad(service, null);
  const rows = [await underLoad(service, null)];
  for (const attack of await attacksOn(service)) {
    rows.push(await underLoad(service, attack));
    await pause(2_000);
  }
  rows.push(await underLoad(service, null));
  await publish(
    "bench:one-key",
    `${String(CALLS)} live calls, and one key with ${String(AT_ONCE)} requests at a time and 200 a second. Aim: jitter p99 at most ${String(LIMIT_MS)} ms.

| requests of the key | answers | egress jitter p99, ms | event loop p99, ms: median second | worst second | failed |
|---|---|---|---|---|---|
${rows.join("\n")}`,
  );
} finally {
  await service.stop();
}
