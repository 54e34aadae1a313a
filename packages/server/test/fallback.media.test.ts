/** A whole call whose first recogniser, model and voice fail on servers of their own: the second ones serve it. */

import type { ServerResponse } from "node:http";
import { pino } from "pino";
import type { Cost, EngineUsageResponse, EngineUse } from "@parley/schema";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openFallbacks } from "../src/app/deployment/fallback-engines.ts";
import { loadConfig } from "../src/config/config.ts";
import type { PriceTable } from "../src/config/prices.ts";
import { DEFAULT_TURN_TAKING } from "../src/config/turn-taking.ts";
import { openLocalServer, type LocalServer } from "../src/ports/testing/local-server.ts";
import { openOpenAiLlm } from "../src/providers/llm-openai/llm-openai.ts";
import { openOpenAiStt } from "../src/providers/stt-openai/stt-openai.ts";
import { openOpenAiTts } from "../src/providers/tts-openai/tts-openai.ts";
import { until } from "../src/runner/testing/call-client.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { openRunningService, USER_FIRST, type RunningService } from "./running-service.ts";

const KEY = "sk-second-0123456789";
const LONG_MS = 30_000;
let service: RunningService;
let broken: LocalServer;
let works: LocalServer;

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const TOKENS = `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: { prompt_tokens: 100, completion_tokens: 5 } })}\n\n`;

/** A dollar for a million tokens, and nothing for the recogniser. */
const PRICES: PriceTable = {
  currency: "USD",
  prices: [
    {
      kind: "llm",
      engine: "two",
      model: "m",
      inputNanos: 1_000_000_000n,
      cachedInputNanos: 1_000_000_000n,
      outputNanos: 1_000_000_000n,
    },
    { kind: "stt", engine: "*", model: "*", minuteNanos: 0n },
  ],
};

function serve(path: string, response: ServerResponse): void {
  if (path.endsWith("/chat/completions")) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const answer = chunk({ content: "The second model answers." });
    response.end(`${answer}${chunk({}, "stop")}${TOKENS}data: [DONE]\n\n`);
  } else if (path.endsWith("/audio/transcriptions")) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end('{"text":"Hello there."}');
  } else {
    const samples = Int16Array.from({ length: 24_000 }, (_, index) => 8_000 * Math.sin(index / 8));
    response.writeHead(200, { "content-type": "audio/pcm" });
    response.end(Buffer.from(samples.buffer));
  }
}

function refuse(path: string, response: ServerResponse): void {
  if (path.endsWith("/chat/completions")) {
    response.writeHead(503, { "content-type": "application/json" });
    response.end('{"error":{"message":"overloaded"}}');
  } else if (path.endsWith("/audio/transcriptions")) {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<h1>Not a transcript</h1>");
  } else {
    response.writeHead(401, { "content-type": "application/json" });
    response.end('{"error":{"message":"wrong key"}}');
  }
}

beforeAll(async () => {
  broken = await openLocalServer(({ path }, response) => refuse(path, response));
  works = await openLocalServer(({ path }, response) => serve(path, response));
  const first = { baseUrl: broken.baseUrl, apiKey: "sk-first", model: "one" };
  const entry = {
    kind: "openai",
    name: "two",
    baseUrl: works.baseUrl,
    apiKey: KEY,
    model: "m",
    voice: null,
  } as const;
  const fallbacks = { stt: [entry], llm: [entry], tts: [{ ...entry, voice: "v" }] };
  const turnTaking = {
    ...DEFAULT_TURN_TAKING,
    transcriptTimeoutMs: LONG_MS,
    replyTimeoutMs: LONG_MS,
    synthesisTimeoutMs: LONG_MS,
  };
  const limits = { answerLimitMs: LONG_MS, firstTokenLimitMs: LONG_MS, firstAudioLimitMs: LONG_MS };
  service = await openRunningService(
    { turnTaking, fallbacks, prices: PRICES, engineLimits: { ...limits, hedgeMs: null } },
    {
      ...openFaultyEngines(),
      stt: openOpenAiStt(first),
      llm: await openOpenAiLlm(first),
      tts: await openOpenAiTts({ ...first, voice: "a" }),
      fallbacks: await openFallbacks({ ...loadConfig({}), fallbacks }, pino({ level: "silent" })),
    },
  );
});

afterAll(async () => {
  await service.close();
  await broken.close();
  await works.close();
});

test("the caller is heard, answered and hears the answer; the record says which engines took over", async () => {
  const { callId, client } = await service.call(USER_FIRST);
  await client.say(800);
  const texts = () =>
    client.of("transcript").flatMap(({ role, final, text }) => (final ? [`${role}: ${text ?? ""}`] : []));
  await until(() => texts().length >= 2, "an answer", LONG_MS);
  expect(texts()).toEqual(["user: Hello there.", "agent: The second model answers."]);
  const replaced = await service.events(callId);
  expect(
    replaced
      .filter(({ type }) => type.endsWith(".replaced"))
      .map(({ type, severity }) => `${type} ${severity}`),
  ).toEqual(["stt.replaced warning", "llm.replaced warning", "tts.replaced warning"]);
  expect(JSON.stringify(replaced)).not.toContain(KEY);
  expect(await service.record(callId)).toMatchObject({ hasErrors: false });
  expect(
    await service.metric(/^parley_engine_requests_total\{kind="llm",engine="two",outcome="answered"\}/),
  ).toBe(1);
  expect(await service.metric(/^parley_engine_out\{kind="tts",engine="[^"]+"\}/)).toBe(1);
  const ready = await service.get<{ status: string; degraded: string[] }>("/readyz");
  expect(ready.status).toBe("ready");
  expect(ready.degraded.join()).toMatch(/^voice: .+ does not work, two is used/);
  const sent = works.requests.map(({ headers }) => headers.authorization);
  expect(new Set(sent)).toEqual(new Set([`Bearer ${KEY}`]));
  client.stop();
  client.socket.close(1000);
  await service.ended(callId);
  await checkUse(callId);
});

interface Used {
  readonly engineUse: readonly EngineUse[] | null;
  readonly cost: Cost | null;
}

/** What the ended call has used, by itself, in its turns, in the sums of the account and in the metrics. */
async function checkUse(callId: string): Promise<void> {
  const { engineUse, cost } = await service.get<Used>(`/api/calls/${callId}`);
  const of = (kind: string, engine: string) =>
    engineUse?.find((one) => one.kind === kind && one.engine === engine);
  const model = of("llm", "two");
  expect(model?.inputTokens).toBeGreaterThanOrEqual(100);
  expect(model).toMatchObject({ provider: "openai", model: "m", failures: 0 });
  expect(Number(model?.cost)).toBeCloseTo(((model?.inputTokens ?? 0) + (model?.outputTokens ?? 0)) / 1e6, 12);
  expect(of("stt", "two")).toMatchObject({ cost: "0", unpricedRequests: 0 });
  expect(of("stt", "two")?.heard).not.toBe("0s");
  const voices = engineUse?.filter(({ kind }) => kind === "tts") ?? [];
  expect(voices.map(({ engine }) => engine)).toEqual([expect.any(String), "two"]);
  expect(voices[0]).toMatchObject({ characters: 0, spoken: "0s", unpricedRequests: 0 });
  expect(voices[0]?.failures).toBeGreaterThan(0);
  expect(voices[1]?.characters).toBeGreaterThan(0);
  // The voice has no price.
  expect(cost).toMatchObject({
    amount: model?.cost,
    currency: "USD",
    isComplete: false,
    withoutPrice: ["two"],
  });
  const path = `/api/calls/${callId}/events?type=engines.used&minimum_severity=debug`;
  const { results } = await service.get<{ results: readonly { extras: object }[] }>(path);
  expect(results.map(({ extras }) => extras)).toContainEqual(
    expect.objectContaining({ turnId: expect.any(Number) }),
  );
  const { engines } = await service.get<EngineUsageResponse>("/api/accounts/me/usage/engines");
  expect(engines.find(({ kind, engine }) => kind === "llm" && engine === "two")).toMatchObject({
    inputTokens: model?.inputTokens,
    cost: model?.cost,
  });
  expect(await service.metric(/^parley_engine_tokens_total\{engine="two",type="input"\}/)).toBe(
    model?.inputTokens,
  );
  expect(
    await service.metric(/^parley_engine_latency_seconds_count\{kind="tts",engine="two"\}/),
  ).toBeGreaterThan(0);
}
