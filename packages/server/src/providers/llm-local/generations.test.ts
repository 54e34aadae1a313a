import { expect, it, vi } from "vitest";
import type { FromChild } from "../local-child/child-protocol.ts";
import { Generations, MIN_REPLY_TOKENS } from "./generations.ts";
import type { ChatRequest, LlmAnswer } from "./llm-protocol.ts";
import { openWordLlama, type WordLlamaOptions } from "./testing/word-llama.ts";

/** On a busy machine. */
const WAIT = { timeout: 20_000 };

const asks = (text: string, fields: Partial<ChatRequest> = {}): ChatRequest => ({
  history: [{ type: "user", text }],
  functions: {},
  temperature: 0,
  maxTokens: 100,
  ...fields,
});

function open(options: WordLlamaOptions = {}) {
  const llama = openWordLlama(options);
  const answers: FromChild<LlmAnswer>[] = [];
  const generations = new Generations(llama, (message) => answers.push(message));
  const answerOf = async (id: number): Promise<LlmAnswer> => {
    const found = await vi.waitFor(() => {
      const message = answers.find((one) => one.type === "answered" && one.id === id);
      if (message?.type !== "answered") throw new Error("not yet");
      return message;
    }, WAIT);
    return found.answer;
  };
  const ask = (id: number, request: ChatRequest): Promise<LlmAnswer> => {
    generations.take({ type: "generate", id, request });
    return answerOf(id);
  };
  const textOf = (id: number): string =>
    answers.map((one) => (one.type === "partial" && one.id === id ? one.text : "")).join("");
  return { llama, answers, generations, ask, answerOf, textOf };
}

it("streams the words of several replies at a time", async () => {
  const { ask, textOf } = open();
  await Promise.all([ask(1, asks("one")), ask(2, asks("two"))]);
  expect([textOf(1), textOf(2)]).toEqual(["You said: one.", "You said: two."]);
});

it("computes a long prompt in pieces, and says that it works", async () => {
  const { ask, llama, answers } = open();
  await ask(1, asks("word ".repeat(150)));
  expect(llama.appended.length).toBe(3);
  expect(Math.max(...llama.appended)).toBe(64);
  expect(answers.filter((one) => one.type === "partial" && one.text === "")).toHaveLength(3);
});

it("computes only what is new of the next prompt, also after an abort", async () => {
  const { ask, llama, generations, answerOf } = open({ parallel: 1 });
  const long = "word ".repeat(150);
  generations.take({ type: "generate", id: 1, request: asks(long) });
  expect(llama.appended).toHaveLength(1);
  generations.take({ type: "abort", id: 1 });
  expect(await answerOf(1)).toEqual({ type: "aborted" });
  expect(llama.appended.length).toBeLessThan(3);
  const computed = llama.appended.reduce((sum, count) => sum + count, 0);
  expect(await ask(2, asks(long))).toMatchObject({ type: "finished", cachedInputTokens: computed });
  const again = await ask(3, asks(long));
  expect(again).toMatchObject({ cachedInputTokens: again.type === "finished" ? again.inputTokens - 1 : 0 });
});

it("aborts a reply, and gives its context to the next one", async () => {
  const { generations, answerOf, ask, answers } = open({ parallel: 1 });
  generations.take({ type: "generate", id: 1, request: asks("hang") });
  await vi.waitFor(
    () => expect(answers.some((one) => one.type === "partial" && one.text !== "")).toBe(true),
    WAIT,
  );
  generations.take({ type: "abort", id: 1 });
  generations.take({ type: "abort", id: 7 });
  expect(await answerOf(1)).toEqual({ type: "aborted" });
  expect(await ask(2, asks("hello"))).toMatchObject({ type: "finished" });
});

it("limits the reply, and refuses a prompt that leaves no room for one", async () => {
  const { ask } = open({ contextTokens: 200 });
  expect(await ask(1, asks("one two three", { maxTokens: 2 }))).toMatchObject({
    reason: "length",
    outputTokens: 2,
  });
  expect(await ask(2, asks("word ".repeat(200 - MIN_REPLY_TOKENS)))).toMatchObject({
    type: "overflow",
    contextTokens: 200,
  });
});

it("fails one reply where the model fails", async () => {
  const { generations, answers, ask } = open({ parallel: 1 });
  generations.take({ type: "generate", id: 1, request: asks("fail") });
  await vi.waitFor(
    () => expect(answers).toContainEqual({ type: "failed", id: 1, detail: "the model has failed" }),
    WAIT,
  );
  expect(await ask(2, asks("hello"))).toMatchObject({ type: "finished" });
});
