import { expect, it } from "vitest";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { describeLlmConformance, llmRequest, textOf } from "../../ports/testing/llm-conformance.ts";
import { openScriptedLlm } from "./llm-scripted.ts";

const user = (text: string) => llmRequest({ messages: [{ role: "user", text }] });

describeLlmConformance("the scripted model", {
  open: openScriptedLlm,
  requests: [
    llmRequest({ instruction: "Greet the user." }),
    user("ten of clubs"),
    user("go forward ten meters"),
  ],
});

it("streams its reply word by word, and calls no tool that was not named", async () => {
  const engine = await openScriptedLlm();
  const tools = [{ name: "book", description: "Books a table.", parameters: { type: "object" } }];
  const { parts } = await collect(engine.generate({ ...user("ten of clubs"), tools }, neverAborted()));
  expect(textOf(parts)).toBe("The ten of clubs. That is the first card in your hand.");
  expect(parts).toHaveLength(13);
  expect(parts.at(-1)).toEqual({ type: "finish", reason: "stop", inputTokens: null, outputTokens: null });
});

it("calls a tool that the caller names, and reads its result out", async () => {
  const engine = await openScriptedLlm();
  const parameters = { type: "object", properties: { meters: { type: "number" } }, required: ["meters"] };
  const tools = [{ name: "goForward", description: "Walks.", parameters }];
  const requested = { ...user("go forward ten meters"), tools };
  const { parts } = await collect(engine.generate(requested, neverAborted()));
  const call = { id: "scripted_1", name: "goForward", arguments: { meters: 10 } };
  expect(parts).toEqual([
    { type: "tool-call", call },
    { type: "finish", reason: "tool-calls", inputTokens: null, outputTokens: null },
  ]);
  const answered = llmRequest({
    tools,
    messages: [
      { role: "user", text: "go forward ten meters" },
      { role: "agent", text: "", toolCalls: [call] },
      { role: "tool", invocationId: "scripted_1", toolName: "goForward", text: "You are at the door." },
    ],
  });
  const second = await collect(engine.generate(answered, neverAborted()));
  expect(textOf(second.parts)).toBe("You are at the door.");
});

it("has a rule for each phrase that it offers to try", async () => {
  const engine = await openScriptedLlm();
  const replies = await Promise.all(
    (engine.examplePhrases ?? []).map(async (phrase) =>
      textOf((await collect(engine.generate(user(phrase), neverAborted()))).parts),
    ),
  );
  expect(replies).toEqual([
    expect.stringContaining("ten meters"),
    expect.stringContaining("Friday"),
    expect.stringContaining("ten of clubs"),
  ]);
});
