import { serialize } from "node:v8";
import { expect, it } from "vitest";
import type { LlmMessage } from "@parley/schema";
import { llmRequest } from "../../ports/testing/llm-conformance.ts";
import { chatRequest, MAX_REPLY_TOKENS } from "./chat-request.ts";

const user = (text: string): LlmMessage => ({ role: "user", text });
const agent = (text: string): LlmMessage => ({ role: "agent", text });
const call = (id: string, name = "lookup") => ({ id, name, arguments: { q: id } });
const result = (id: string, text: string): LlmMessage => ({
  role: "tool",
  invocationId: id,
  toolName: "lookup",
  text,
});
const historyOf = (...messages: LlmMessage[]) => chatRequest(llmRequest({ messages })).history;

it("has the system prompt, the history, the temperature and the tools", () => {
  const parameters = { type: "object", properties: { q: { type: "string" } }, required: ["q"] };
  const request = chatRequest(
    llmRequest({
      systemPrompt: "You are Ada.",
      messages: [user("Hello")],
      temperature: 0.4,
      language: "de",
      tools: [
        { name: "lookup", description: "Looks up.", parameters },
        { name: "hang_up", description: "Ends the call.", parameters: { type: "object" } },
      ],
    }),
  );
  expect(request).toEqual({
    history: [
      { type: "system", text: expect.stringMatching(/^You are Ada\.\n\n.*BCP 47 tag de/) },
      { type: "user", text: "Hello" },
    ],
    functions: {
      lookup: { description: "Looks up.", params: { type: "object", properties: { q: { type: "string" } } } },
      hang_up: { description: "Ends the call." },
    },
    temperature: 0.4,
    maxTokens: MAX_REPLY_TOKENS,
  });
});

it("makes the results of tools a part of what the model said", () => {
  const calls: LlmMessage = { role: "agent", text: "One moment.", toolCalls: [call("a"), call("b")] };
  const history = historyOf(user("Hello"), calls, result("b", "two"), result("a", "one"), agent("Done."));
  const functionCall = (id: string, text: string, startsNewChunk: boolean) => ({
    type: "functionCall",
    name: "lookup",
    params: { q: id },
    result: text,
    startsNewChunk,
  });
  expect(history.slice(0, 2)).toEqual([
    { type: "user", text: "Hello" },
    {
      type: "model",
      response: ["One moment.", functionCall("a", "one", true), functionCall("b", "two", false), "Done."],
    },
  ]);
  const [, parsed] = historyOf(user("Hello"), calls, result("a", '{"room": 7}'), result("b", "[seven"));
  expect(parsed).toMatchObject({ response: ["One moment.", { result: { room: 7 } }, { result: "[seven" }] });
  const again: LlmMessage = { role: "agent", text: "", toolCalls: [call("c")] };
  const [, model] = historyOf(user("Hello"), calls, result("a", "1"), again, result("c", "3"));
  expect(model).toMatchObject({
    response: [
      "One moment.",
      functionCall("a", "1", true),
      { result: "[No result was recorded.]" },
      functionCall("c", "3", true),
    ],
  });
});

it("never has two messages of one side in a row, and ends with the caller or a result", () => {
  expect(historyOf(agent("Hello."), user("Hi"), user("there"))).toEqual([
    { type: "user", text: "[The call begins.]" },
    { type: "model", response: ["Hello."] },
    { type: "user", text: "Hi\nthere" },
  ]);
  expect(historyOf().at(-1)).toMatchObject({ type: "user" });
  expect(historyOf(user("Hi"), agent("Yes?")).at(-1)).toMatchObject({ type: "user" });
});

it("says an instruction at the end, so that what comes before it stays the same", () => {
  const messages = [user("Hello"), agent("Yes?"), user("Bye")];
  const plain = chatRequest(llmRequest({ messages, systemPrompt: "You are Ada." }));
  const instructed = chatRequest(
    llmRequest({ messages, systemPrompt: "You are Ada.", instruction: "Say goodbye." }),
  );
  expect(instructed.history.slice(0, -1)).toEqual(plain.history.slice(0, -1));
  expect(instructed.history.at(-1)).toEqual({ type: "user", text: "Bye\n\n[Say goodbye.]" });
  const calls: LlmMessage = { role: "agent", text: "", toolCalls: [call("a")] };
  const after = chatRequest(
    llmRequest({ messages: [user("Hi"), calls, result("a", "1")], instruction: "Be brief." }),
  );
  expect(after.history.at(-1)).toEqual({ type: "user", text: "[Be brief.]" });
});

it("sends documents that are nested too deeply as a text, and leaves out such arguments", () => {
  const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
  const nested = { q: JSON.parse(deep) as unknown };
  const calls: LlmMessage = {
    role: "agent",
    text: "",
    toolCalls: [call("a"), { id: "b", name: "lookup", arguments: nested }],
  };
  const history = historyOf(user("Hello"), calls, result("a", deep), result("b", '{"found":[1]}'));
  expect(() => serialize(history)).not.toThrow();
  expect(history.at(-1)).toMatchObject({
    response: [
      { params: { q: "a" }, result: deep },
      { params: {}, result: { found: [1] } },
    ],
  });
});
