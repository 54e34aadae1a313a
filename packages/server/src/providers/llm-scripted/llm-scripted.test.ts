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

it("streams its reply word by word and calls no tool", async () => {
  const engine = await openScriptedLlm();
  const tools = [{ name: "book", description: "Books a table.", parameters: { type: "object" } }];
  const { parts } = await collect(engine.generate({ ...user("ten of clubs"), tools }, neverAborted()));
  expect(textOf(parts)).toBe("The ten of clubs. That is the first card in your hand.");
  expect(parts).toHaveLength(13);
  expect(parts.at(-1)).toEqual({ type: "finish", reason: "stop", inputTokens: null, outputTokens: null });
});
