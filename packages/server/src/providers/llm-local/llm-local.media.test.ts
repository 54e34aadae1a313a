import { writeFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import type { LlmMessage, LlmTool } from "@parley/schema";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { describeLlmConformance, llmRequest, textOf } from "../../ports/testing/llm-conformance.ts";
import type { LlmEngine, LlmRequest } from "../../ports/llm.ts";
import { newToyFolder, trackedStart } from "../local-child/testing/toy-models.ts";
import { MAX_REPLY_TOKENS } from "./chat-request.ts";
import { MAX_WAITING_REPLIES } from "./llm-link.ts";
import { openLocalLlm, type LocalLlmOptions } from "./llm-local.ts";
import type { LlmLoadOrder } from "./llm-protocol.ts";
import { MISSING_FOR_LLM, toyLlmOrder, writeToyLlm } from "./testing/toy-llm.ts";

if (MISSING_FOR_LLM !== null)
  process.stderr.write("skipped: llama.cpp itself, which needs node-llama-cpp (LLAMA_PACKAGE)\n");

const folder = newToyFolder();
afterAll(() => folder.remove());

const engines: LlmEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

const STAND_IN = new URL("./testing/stand-in-child.ts", import.meta.url);

const standInOrder = (fields: Partial<LlmLoadOrder> = {}): LlmLoadOrder => ({
  model: { name: "words", family: "gguf", paths: {}, files: [], languages: ["en"], voices: [] },
  packageFolder: "",
  threads: 1,
  contextTokens: 2_000,
  parallel: 2,
  ...fields,
});

async function open(order: LlmLoadOrder, fields: Partial<LocalLlmOptions> = {}) {
  const { pids, start } = trackedStart();
  const log: string[] = [];
  const engine = await openLocalLlm({
    order,
    names: [order.model.name, `local:${order.model.name}`],
    startChild: start,
    log: (line) => log.push(line),
    ...fields,
  });
  engines.push(engine);
  return { engine, pids, log };
}

const openStandIn = (order: Partial<LlmLoadOrder> = {}, fields: Partial<LocalLlmOptions> = {}) =>
  open(standInOrder(order), { program: STAND_IN, ...fields });

const user = (text: string): LlmMessage => ({ role: "user", text });
const asks = (text: string, fields: Partial<LlmRequest> = {}): LlmRequest =>
  llmRequest({ systemPrompt: "You are Ada.", messages: [user(text)], ...fields });
const say = (engine: LlmEngine, request: LlmRequest) => collect(engine.generate(request, neverAborted()));

const TOOLS: LlmTool[] = [
  {
    name: "lookup",
    description: "Looks up.",
    parameters: {
      type: "object",
      properties: { q: { type: "string" }, day: { enum: ["monday", "tuesday"] } },
      required: ["q"],
    },
  },
];

describe("a language model on this machine, with a stand-in for its package", () => {
  describeLlmConformance("its process", {
    open: async () => (await openStandIn({ parallel: 5 })).engine,
    requests: [asks("hello there"), asks("one two three"), llmRequest({ messages: [] })],
    openHanging: async () => {
      const { engine, pids } = await openStandIn();
      process.kill(pids[0] ?? 0, "SIGSTOP");
      return { engine, reached: Promise.resolve() };
    },
    openFailing: async () => {
      const { engine, pids } = await openStandIn();
      process.kill(pids[0] ?? 0, "SIGKILL");
      return engine;
    },
  });

  it("counts tokens, and those that the context had from the turn before", async () => {
    const { engine } = await openStandIn();
    const first = (await say(engine, asks("hello there"))).parts.at(-1);
    expect(first).toMatchObject({ type: "finish", reason: "stop", outputTokens: 4 });
    expect(first).not.toHaveProperty("cachedInputTokens");
    const messages = [user("hello there"), { role: "agent", text: "Yes." } as const, user("and now")];
    const second = (await say(engine, asks("", { messages }))).parts.at(-1);
    if (first?.type !== "finish" || second?.type !== "finish") throw new Error("there is no end");
    expect(second.cachedInputTokens).toBeGreaterThan(0);
    expect(second.inputTokens).toBeGreaterThan(first.inputTokens ?? 0);
  });

  it("calls tools, without the arguments that the model left out", async () => {
    const { engine } = await openStandIn();
    const { parts } = await say(engine, asks("call it", { tools: TOOLS }));
    const call = parts.find((part) => part.type === "tool-call");
    expect(call).toEqual({
      type: "tool-call",
      call: { id: expect.stringMatching(/^call_[\da-f-]{36}$/), name: "lookup", arguments: { q: "nine" } },
    });
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "tool-calls" });
  });

  it("refuses a prompt that does not fit, and names the setting", async () => {
    const { engine } = await openStandIn({ contextTokens: 200 });
    const { parts, error } = await say(engine, asks("word ".repeat(150)));
    expect(parts).toEqual([]);
    expect(error).toMatchObject({ name: "EngineFailure", type: "context_overflow", isPermanent: false });
    expect(error?.message).toContain("200 for prompt and reply (LLM_LOCAL_CONTEXT)");
    expect((await say(engine, asks("short"))).error).toBeNull();
  });

  it("refuses at once when too many replies wait, and serves those that wait", async () => {
    const { engine } = await openStandIn({ parallel: 1 });
    const abort = new AbortController();
    const hanging = collect(engine.generate(asks("hang"), abort.signal));
    const waiting = Array.from({ length: MAX_WAITING_REPLIES }, () => say(engine, asks("hello")));
    const refused = await say(engine, asks("hello"));
    expect(refused.error?.message).toBe("too many replies are waiting for the language model words");
    expect(refused.error?.name).toBe("EngineFailure");
    abort.abort();
    expect((await hanging).error?.name).toBe("AbortError");
    for (const { error } of await Promise.all(waiting)) expect(error).toBeNull();
  });

  it("is started again when its process is killed; who was served hears of it, who waited does not", async () => {
    const { engine, pids, log } = await openStandIn({ parallel: 1 });
    const crashing = say(engine, asks("crash"));
    const waiting = say(engine, asks("hello"));
    const { error } = await crashing;
    expect(error?.message).toContain("the language model words was lost: its process ended (SIGKILL)");
    expect(error).toMatchObject({ name: "EngineFailure", type: "local_model", isPermanent: false });
    expect(textOf((await waiting).parts)).toBe("You said: hello.");
    expect(pids).toHaveLength(2);
    expect(log).toHaveLength(1);
    expect(log.join()).not.toContain("crash");
  });

  it("fails one reply where the model fails, and goes on", async () => {
    const { engine, pids } = await openStandIn();
    expect((await say(engine, asks("fail"))).error?.message).toBe(
      "the language model words failed: the model has failed",
    );
    expect((await say(engine, asks("hello"))).error).toBeNull();
    expect(pids).toHaveLength(1);
  });

  it("replaces a process that says nothing while it makes a reply, and says meanwhile why it cannot be used", async () => {
    const { engine, pids, log } = await openStandIn({}, { answerTimeoutMs: 50 });
    for (let lost = 1; lost <= 4; lost += 1) {
      // oxlint-disable-next-line no-await-in-loop
      expect((await say(engine, asks("hang"))).error?.message).toContain("it did not answer in time");
    }
    expect(pids).toHaveLength(4);
    await vi.waitFor(() => expect(engine.unusable?.()).toContain("is gone: it did not answer in time"), {
      timeout: 20_000,
    });
    expect((await say(engine, asks("hello"))).error?.message).toContain("is gone");
    expect(log.at(-1)).toContain("does not work");
  });
});

describe("a language model that cannot be loaded", () => {
  it("is refused with a sentence", async () => {
    const path = writeToyLlm(folder.path);
    const order = toyLlmOrder(path);
    writeFileSync(path, "damaged");
    await expect(open(order)).rejects.toThrow(
      "the language model toy-llm cannot start: its file toy.gguf has 7 bytes",
    );
    const other = { ...order.model, family: "vits", files: [] } as const;
    await expect(open({ ...order, model: other })).rejects.toThrow(
      "a model of the kind vits is not a language model",
    );
  });
});

describe.skipIf(MISSING_FOR_LLM !== null)("a toy language model, run by llama.cpp", () => {
  const toy = () => toyLlmOrder(writeToyLlm(folder.path));

  describeLlmConformance("its process", {
    open: async () => (await open({ ...toy(), parallel: 5 })).engine,
    requests: [asks("well hello"), asks("one two three"), llmRequest({ messages: [] })],
    openHanging: async () => {
      const { engine, pids } = await open(toy());
      process.kill(pids[0] ?? 0, "SIGSTOP");
      return { engine, reached: Promise.resolve() };
    },
    openFailing: async () => {
      const { engine, pids } = await open(toy());
      process.kill(pids[0] ?? 0, "SIGKILL");
      return engine;
    },
  });

  it("replies, counts tokens, and computes only what is new of the next prompt", async () => {
    const { engine } = await open(toy());
    const first = await say(engine, asks("well hello"));
    expect(first.error).toBeNull();
    expect(textOf(first.parts)).toBe("Good day to you.");
    const messages = [user("well hello"), { role: "agent", text: "Good day to you." } as const];
    const second = await say(engine, asks("", { messages: [...messages, user("the weather")] }));
    expect(textOf(second.parts)).toBe("It is sunny.");
    const [before, after] = [first.parts.at(-1), second.parts.at(-1)];
    if (before?.type !== "finish" || after?.type !== "finish") throw new Error("there is no end");
    expect(before).toMatchObject({ reason: "stop", outputTokens: 6 });
    expect(before).not.toHaveProperty("cachedInputTokens");
    expect(after.cachedInputTokens).toBeGreaterThanOrEqual(before.inputTokens ?? Infinity);
    expect(after.inputTokens).toBeGreaterThan(after.cachedInputTokens ?? Infinity);
  });

  it("calls a tool with arguments of its form, and goes on with the result", async () => {
    const { engine } = await open(toy());
    const request = asks("please book", { tools: TOOLS });
    const { parts, error } = await say(engine, request);
    expect(error).toBeNull();
    const call = parts.find((part) => part.type === "tool-call")?.call;
    expect(call?.name).toBe("lookup");
    expect(call?.arguments["q"]).toEqual(expect.any(String));
    expect(["monday", "tuesday", undefined]).toContain(call?.arguments["day"]);
    expect(textOf(parts)).toBe("");
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "tool-calls" });
    if (call === undefined) throw new Error("there is no call");
    const { id } = call;
    const messages: LlmMessage[] = [
      ...request.messages,
      { role: "agent", text: "", toolCalls: [call] },
      { role: "tool", invocationId: id, toolName: "lookup", text: "nine" },
    ];
    const next = await say(engine, { ...request, messages });
    expect(textOf(next.parts)).toBe("Done and booked.");
  });

  it("ends a reply that has no end by itself", async () => {
    const { engine } = await open(toy());
    const { parts } = await say(engine, asks("sing forever"));
    expect(parts.at(-1)).toMatchObject({ reason: "length", outputTokens: MAX_REPLY_TOKENS });
  });

  it("gives the context of an aborted reply to the next one, while another one goes on", async () => {
    const { engine } = await open(toy());
    const ended: string[] = [];
    const abort = new AbortController();
    const aborted = collect(engine.generate(asks("sing forever"), abort.signal), () => abort.abort());
    const other = say(engine, asks("now sing forever")).then(() => ended.push("other"));
    expect((await aborted).error?.name).toBe("AbortError");
    const next = say(engine, asks("well hello")).then(() => ended.push("next"));
    await Promise.all([other, next]);
    expect(ended).toEqual(["next", "other"]);
  });

  it("refuses a prompt that does not fit, and continues", async () => {
    const { engine } = await open({ ...toy(), contextTokens: 512 });
    const { error } = await say(engine, asks("x".repeat(1_000)));
    expect(error).toMatchObject({ type: "context_overflow" });
    expect(textOf((await say(engine, asks("well hello"))).parts)).toBe("Good day to you.");
  });

  it("does not start with a file that is no model", async () => {
    const path = writeToyLlm(folder.path);
    writeFileSync(path, "GGUF, or so it says");
    await expect(open(toyLlmOrder(path))).rejects.toThrow(
      "the language model toy-llm cannot start: its file is not a GGUF model",
    );
  });
});
