import { expect, it } from "vitest";
import type { LlmToolCall } from "@parley/schema";
import type { ReplyRequest } from "../../call/effects.ts";
import type { CallEngineEventBody } from "../../call/events.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { LlmEngine, LlmPart, LlmRequest } from "../../ports/llm.ts";
import { openFakeLlm } from "../../ports/testing/fake-llm.ts";
import { Generations, SIDE_EVENTS } from "./generation.ts";

const TOOLS = [{ name: "book", description: "Books a table.", parameters: { type: "object" } }];
const REQUEST: ReplyRequest = {
  model: "default",
  temperature: 0,
  systemPrompt: "",
  messages: [],
  instruction: null,
  languageHint: null,
  tools: TOOLS,
};

it("gives the voice only to a model that hears it", async () => {
  const asked: LlmRequest[] = [];
  const done = Promise.withResolvers<void>();
  const generations = new Generations({
    llm: {
      ...openFakeLlm({ models: ["ears"] }),
      takesAudio: (model) => model === "ears",
      async *generate(request) {
        asked.push(request);
        yield await Promise.resolve(FINISH);
      },
    },
    checkArguments: async () => null,
    post: () => {
      if (asked.length === 2) done.resolve();
    },
    faulted: done.reject,
  });
  const messages = [{ role: "user", text: "Hello.", utteranceIds: [4] }] as const;
  const voiceOf = (utteranceId: number) => new Int16Array(utteranceId);
  generations.start(1, { ...REQUEST, messages }, voiceOf);
  generations.start(2, { ...REQUEST, messages, model: "ears" }, voiceOf);
  await done.promise;
  expect(asked[0]?.audio).toBeUndefined();
  expect(asked[1]?.audio?.map(({ messageIndex, wav }) => [messageIndex, wav.length])).toEqual([[0, 52]]);
});

it("passes on how many tokens were in the server's cache", async () => {
  const { posted } = await generate([{ ...FINISH, cachedInputTokens: 2 }]);
  expect(posted).toEqual([
    { type: "replyTextFinished", replyId: 7, inputTokens: 3, outputTokens: 2, cachedInputTokens: 2 },
  ]);
});

/** Generates the parts once and lets the stream end; gives what was posted. */
async function generate(parts: readonly LlmPart[], problem: string | null = null, failure?: Error) {
  const requested: LlmRequest[] = [];
  const posted: CallEngineEventBody[] = [];
  const done = Promise.withResolvers<void>();
  const llm: LlmEngine = {
    name: "test",
    models: [],
    async *generate(request) {
      requested.push(request);
      yield* parts;
      await Promise.resolve();
      if (failure !== undefined) throw failure;
    },
    close: () => Promise.resolve(),
  };
  const generations = new Generations({
    llm,
    checkArguments: async () => problem,
    post: (event) => {
      posted.push(event);
      if (event.type === "replyTextFinished" || event.type === "replyFailed") done.resolve();
    },
    faulted: (error) => {
      done.reject(error);
    },
  });
  generations.start(7, REQUEST);
  await done.promise;
  return { requested, posted, calls: posted.filter((event) => event.type === "replyToolCalled") };
}

const toolCall = (id: string, name = "book", given: LlmToolCall["arguments"] = {}): LlmPart => ({
  type: "tool-call",
  call: { id, name, arguments: given },
});
const FINISH: LlmPart & { readonly type: "finish" } = {
  type: "finish",
  reason: "tool-calls",
  inputTokens: 3,
  outputTokens: 2,
};

it("offers the tools to the model and posts its calls in order with the text", async () => {
  const text: LlmPart = { type: "text-delta", text: "One moment." };
  const { requested, posted } = await generate([text, toolCall("a", "book", { seats: 4 }), FINISH]);
  expect(requested[0]?.tools).toEqual(TOOLS);
  expect(posted).toEqual([
    { type: "replyTextReceived", replyId: 7, text: "One moment." },
    {
      type: "replyToolCalled",
      replyId: 7,
      call: { id: "a", name: "book", arguments: { seats: 4 } },
      problem: null,
    },
    { type: "replyTextFinished", replyId: 7, inputTokens: 3, outputTokens: 2 },
  ]);
});

it("says why a call cannot be carried out", async () => {
  const { calls } = await generate([toolCall("a"), toolCall("b", "cook"), FINISH], "seats is required");
  expect(calls.map(({ problem }) => problem)).toEqual(["seats is required", "there is no tool of this name"]);
});

it("says of a failure whether a retry can help", async () => {
  const failure = new EngineFailure("no such model", { isPermanent: true, type: "404" });
  const refused = await generate([], null, failure);
  expect(refused.posted).toEqual([
    { type: "replyFailed", replyId: 7, error: "no such model", permanent: true, errorType: "404" },
  ]);
  const busy = await generate([], null, new EngineFailure("busy"));
  expect(busy.posted).toEqual([{ type: "replyFailed", replyId: 7, error: "busy" }]);
});

it("does not keep arguments that are too large", async () => {
  const { calls } = await generate([toolCall("a", "book", { note: "x".repeat(65_536) }), FINISH]);
  expect(calls).toMatchObject([{ call: { id: "a", name: "book", arguments: {} } }]);
  expect(calls[0]?.problem).toContain("longer than 65536");
});

it("carries out sixteen calls at most and gives up on a model that never stops", async () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => toolCall(`c${i}`));
  const { calls } = await generate([...many(18), FINISH]);
  expect(calls.filter(({ problem }) => problem === null)).toHaveLength(16);
  expect(calls.slice(16).map(({ problem }) => problem)).toEqual([
    "at most 16 tools can be called at once",
    "at most 16 tools can be called at once",
  ]);
  const endless = await generate([...many(65), FINISH]);
  expect(endless.posted.at(-1)).toMatchObject({
    type: "replyFailed",
    error: "the model made too many tool calls",
  });
});

it("posts events of side threads, at most so many at once, and none after an abort", async () => {
  const posted: CallEngineEventBody[] = [];
  const release = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const side = new Generations({
    llm: {
      ...openFakeLlm(),
      async *generate() {
        await release.promise;
        yield { type: "text-delta", text: "Found." };
        yield { type: "tool-call", call: { id: "m1", name: "book", arguments: {} } };
        yield { ...FINISH, cachedInputTokens: 2 };
      },
    },
    events: SIDE_EVENTS,
    maxRunning: 2,
    checkArguments: async () => null,
    post: (event) => {
      posted.push(event);
      if (event.type === "sideTextFinished") done.resolve();
    },
    faulted: done.reject,
  });
  for (const id of [1, 2, 3]) side.start(id, REQUEST);
  expect(posted).toEqual([
    { type: "sideGenerationFailed", generationId: 3, error: "more than 2 generations" },
  ]);
  side.abort(1);
  release.resolve();
  await done.promise;
  expect(posted.slice(1)).toEqual([
    { type: "sideTextReceived", generationId: 2, text: "Found." },
    {
      type: "sideToolCalled",
      generationId: 2,
      call: { id: "m1", name: "book", arguments: {} },
      problem: null,
    },
    { type: "sideTextFinished", generationId: 2, inputTokens: 3, outputTokens: 2, cachedInputTokens: 2 },
  ]);
});
