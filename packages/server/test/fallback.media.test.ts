/** A whole call whose first recogniser, model and voice fail on servers of their own: the second ones serve it. */

import type { ServerResponse } from "node:http";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openFallbacks } from "../src/app/deployment/fallback-engines.ts";
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

function serve(path: string, response: ServerResponse): void {
  if (path.endsWith("/chat/completions")) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${chunk({ content: "The second model answers." })}${chunk({}, "stop")}data: [DONE]\n\n`);
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
    { turnTaking, fallbacks, engineLimits: { ...limits, hedgeMs: null } },
    {
      ...openFaultyEngines(),
      stt: openOpenAiStt(first),
      llm: await openOpenAiLlm(first),
      tts: await openOpenAiTts({ ...first, voice: "a" }),
      fallbacks: await openFallbacks({ fallbacks }, pino({ level: "silent" })),
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
});
