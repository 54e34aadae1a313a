/** Lists of the real adapters, whose first engine fails on a server of its own. */

import type { ServerResponse } from "node:http";
import { pino } from "pino";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../../config/config.ts";
import type { OpenAiEntry } from "../../config/engines-file/listed-engine.ts";
import { openClock, type Clock } from "../../pacing/clock.ts";
import type { EngineStep } from "../../ports/engine-steps.ts";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { openFakeVoiceProvider } from "../../ports/testing/fake-voice-provider.ts";
import { llmRequest, textOf } from "../../ports/testing/llm-conformance.ts";
import { openLocalServer, type LocalServer } from "../../ports/testing/local-server.ts";
import { SttRecord } from "../../ports/testing/stt-conformance.ts";
import { durationMsOf, ttsRequest } from "../../ports/testing/tts-conformance.ts";
import { openOpenAiLlm } from "../../providers/llm-openai/llm-openai.ts";
import { openOpenAiStt } from "../../providers/stt-openai/stt-openai.ts";
import { openOpenAiTts } from "../../providers/tts-openai/tts-openai.ts";
import { closeEngines } from "../engines.ts";
import { createEngineLists } from "./engine-lists.ts";
import { closeFallbacks, openFallbacks, type FallbackEngines } from "./fallback-engines.ts";

const KEY = "sk-second-0123456789";
const FIRST_KEY = "sk-first-0123456789";
/** No limit is reached by time: see `manualLimits`. */
const LIMIT_MS = 30_000;

type Faulty = (response: ServerResponse) => void;
const json =
  (status: number, body: object): Faulty =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
const FAULTS: readonly (readonly [string, Faulty])[] = [
  ["a refused key", json(401, { error: { message: `wrong key ${FIRST_KEY}` } })],
  ["too many requests", json(429, { error: { message: "slow down" } })],
  ["a broken server", json(503, { error: { message: "overloaded" } })],
  ["no answer", () => expire()],
  [
    "garbage",
    (response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<h1>Hello</h1>");
    },
  ],
  ["a lost connection", (response) => void response.destroy()],
];

const chunk = (delta: object, finish: string | null = null): string => {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
};

function serve(path: string, response: ServerResponse): void {
  if (path.endsWith("/chat/completions")) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${chunk({ content: "The second answers." })}${chunk({}, "stop")}data: [DONE]\n\n`);
  } else if (path.endsWith("/audio/transcriptions")) json(200, { text: "Hello there." })(response);
  else {
    response.writeHead(200, { "content-type": "audio/pcm" });
    response.end(Buffer.from(new Int16Array(24_000).fill(500).buffer));
  }
}

/** Lets all limits that count now be reached. */
let expire = (): void => undefined;

/** A clock whose limits are reached when a test says so, because a server that works may take long here. */
function manualLimits(): Clock {
  const limits = new Set<() => void>();
  expire = () => {
    const due = [...limits];
    limits.clear();
    for (const reach of due) reach();
  };
  return {
    ...openClock(),
    after: (_ms, reach) => {
      limits.add(reach);
      return () => limits.delete(reach);
    },
  };
}

let opened: { servers: LocalServer[]; fallbacks: FallbackEngines | null } = { servers: [], fallbacks: null };

beforeAll(async () => {
  // The SDK is loaded once, before anything is measured by a limit.
  await openOpenAiLlm({ baseUrl: "http://127.0.0.1:9/v1", apiKey: null, model: "m" });
});

afterEach(async () => {
  const { servers, fallbacks } = opened;
  opened = { servers: [], fallbacks: null };
  if (fallbacks !== null) await closeFallbacks(fallbacks);
  for (const server of servers) await server.close();
});

async function openLists(fault: Faulty) {
  const broken = await openLocalServer((_request, response) => fault(response));
  const works = await openLocalServer(({ path }, response) => serve(path, response));
  const entry = { kind: "openai", name: "two", baseUrl: works.baseUrl, apiKey: KEY, model: "m" } as const;
  const others: OpenAiEntry = { ...entry, voice: null };
  const fallbacks = await openFallbacks(
    { ...loadConfig({}), fallbacks: { stt: [others], llm: [others], tts: [{ ...entry, voice: "v" }] } },
    pino({ level: "silent" }),
  );
  opened = { servers: [broken, works], fallbacks };
  const limitMs = LIMIT_MS;
  const lines: string[] = [];
  const lists = createEngineLists(
    fallbacks,
    { answerLimitMs: limitMs, firstTokenLimitMs: limitMs, firstAudioLimitMs: limitMs, hedgeMs: null },
    pino({ level: "warn" }, { write: (line) => void lines.push(line) }),
    manualLimits(),
  );
  const first = { baseUrl: broken.baseUrl, apiKey: FIRST_KEY, model: "one" };
  lists.update(
    {
      stt: openOpenAiStt(first),
      llm: await openOpenAiLlm(first),
      tts: await openOpenAiTts({ ...first, voice: "a" }),
    },
    { stt: "one", llm: "one", tts: "a of one" },
  );
  const steps: EngineStep[] = [];
  return { lists, lines, steps, works, user: { stepped: (step: EngineStep) => void steps.push(step) } };
}

describe("the second server serves the call where the first one has", () => {
  it.each(FAULTS)("%s", async (name, fault) => {
    const { lists, lines, steps, works, user } = await openLists(fault);
    const { stt, llm, tts } = lists.joined;
    const reply = await collect(llm.generate(llmRequest({ user }), neverAborted()));
    expect([reply.error, textOf(reply.parts)]).toEqual([null, "The second answers."]);
    const speech = await collect(tts.synthesize(ttsRequest("Hello.", { user, voice: "a" }), neverAborted()));
    expect([speech.error, durationMsOf(speech.parts)]).toEqual([null, 1_000]);
    const record = new SttRecord();
    const stream = stt.open({ language: "en", user }, record);
    stream.open(1);
    stream.push(1, new Int16Array(16_000));
    stream.request(1, 1);
    expect(await record.answered(1)).toMatchObject([{ type: "final", text: "Hello there." }]);
    stream.close();
    expect(steps.map(({ from, to }) => `${from} → ${to}`)).toEqual([
      "one → two",
      "a of one → two",
      "one → two",
    ]);
    const isOut = name === "a refused key";
    expect(Object.values(lists.reports()).map((list) => list.map((engine) => engine.isOut))).toEqual(
      Array.from({ length: 3 }, () => [isOut, false]),
    );
    expect(lines).toHaveLength(3);
    const told = JSON.stringify([lines, steps, lists.reports()]);
    expect([told.includes(KEY), told.includes(FIRST_KEY)]).toEqual([false, false]);
    expect(works.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 3 }, () => `Bearer ${KEY}`),
    );
  });
});

it("a list stays while its first engine stays, and an engine without others is not wrapped", async () => {
  const { lists } = await openLists(() => undefined);
  const { llm } = lists.joined;
  const next = await openOpenAiLlm({ baseUrl: "http://127.0.0.1:9/v1", apiKey: null, model: "m" });
  lists.update({ ...lists.joined, llm: next }, { stt: "one", llm: "m", tts: "one" });
  expect([lists.joined.llm === llm, lists.reports().llm.map(({ name }) => name)]).toEqual([
    false,
    ["m", "two"],
  ]);
  const { engineLimits } = loadConfig({});
  const alone = createEngineLists(undefined, engineLimits, pino({ level: "silent" }));
  alone.update({ ...lists.joined, llm: next }, { stt: "one", llm: "m", tts: "one" });
  expect(alone.joined.llm).toBe(next);
  expect(alone.reports()).toEqual({ stt: [], llm: [], tts: [] });
});

it("opens the engines that come with the service, and closes them with the others", async () => {
  const fallbacks = await openFallbacks(
    { ...loadConfig({}), fallbacks: { stt: [], llm: [{ kind: "built_in", name: "rules" }], tts: [] } },
    pino({ level: "silent" }),
  );
  const [listed] = fallbacks.llm;
  expect(listed?.engine.name).toBe("scripted");
  const part = { close: () => Promise.resolve() };
  await closeEngines({ vad: part, stt: part, llm: part, tts: part, turnDetectors: [], fallbacks } as never);
  const { error } = await collect(listed!.engine.generate(llmRequest(), neverAborted()));
  expect(error).not.toBeNull();
});

it("opens the other kinds of engines: vendors of models and voices, streaming recognisers", async () => {
  const provider = openFakeVoiceProvider({ kind: "provider1", key: KEY });
  const vendor = { vendor: "groq", model: "m", name: "groq:m", aws: null, region: null } as const;
  const at = { baseUrl: "http://127.0.0.1:9/v1", apiKey: KEY, model: "m" };
  const external = { kind: "external", provider: "provider1", settings: { voiceId: "v" } } as const;
  const fallbacks = await openFallbacks(
    {
      ...loadConfig({}),
      fallbacks: {
        stt: [
          { kind: "deepgram", name: "d", ...at, endOfTurnMs: 0 },
          { kind: "openai_realtime", name: "r", ...at, voice: null },
        ],
        llm: [{ kind: "sdk", name: "groq", target: { ...vendor, ...at, takesAudio: false } }],
        tts: [
          { ...external, name: "right", apiKey: KEY },
          { ...external, name: "wrong", apiKey: "sk-wrong-0123456789" },
        ],
      },
    },
    pino({ level: "silent" }),
    { voiceProviders: { provider1: provider } },
  );
  opened = { servers: [], fallbacks };
  expect(fallbacks.stt.map(({ engine }) => engine.name)).toEqual(["deepgram", "openai-realtime"]);
  expect(fallbacks.llm[0]?.engine).toMatchObject({ name: "groq", model: "m" });
  const say = (index: number, voice: string | null = null) =>
    collect(fallbacks.tts[index]!.engine.synthesize(ttsRequest("One two.", { voice }), neverAborted()));
  expect((await say(0)).error).toBeNull();
  expect(provider.spoken).toMatchObject([{ voice: { voiceId: "v" }, key: KEY, text: "One two." }]);
  expect((await say(0, "anna")).error).toMatchObject({ isPermanent: true, type: "unknown_voice" });
  const refused = (await say(1)).error;
  expect([refused?.message.includes("401"), refused?.message.includes("sk-wrong")]).toEqual([true, false]);
});

it.each([
  ["stt", "zipformer-en"],
  ["llm", "qwen2.5-1.5b"],
] as const)("does not open a model of this machine that is not installed: %s", async (kind, model) => {
  const setting = `ENGINES_FILE names engines.json, where ${kind}[0].model`;
  const entry = { kind: "local", name: "z", model, voice: null, setting } as const;
  const opening = openFallbacks(
    {
      ...loadConfig({ DATA_DIR: "/nonexistent/parley" }),
      fallbacks: { stt: [], llm: [], tts: [], [kind]: [entry] },
    },
    pino({ level: "silent" }),
  );
  await expect(opening).rejects.toThrow(
    `${setting} is ${model}, which is not installed: run \`npx parley models pull ${model}\``,
  );
});
