import { expect, it } from "vitest";
import { collect, neverAborted } from "./collect.ts";
import { openFakeLlm } from "./fake-llm.ts";
import { describeLlmConformance, llmRequest, textOf } from "./llm-conformance.ts";

const lastText = ({ messages }: { messages: readonly { text: string }[] }): string =>
  `You said: ${messages.at(-1)?.text ?? "nothing at all"}`;

describeLlmConformance("the fake", {
  open: () => openFakeLlm({ reply: lastText, models: ["other"] }),
  requests: [llmRequest(), llmRequest({ messages: [{ role: "user", text: "one two" }] })],
  openHanging: () => ({ engine: openFakeLlm({ wordDelayMs: 3_600_000 }), reached: Promise.resolve() }),
  openFailing: () => openFakeLlm({ failure: () => new Error("broken on purpose") }),
});

it("streams exactly the reply, spaces and all", async () => {
  const reply = "  One two\nthree.  ";
  const { parts } = await collect(openFakeLlm({ reply }).generate(llmRequest(), neverAborted()));
  expect(textOf(parts)).toBe(reply);
  expect(parts.at(-1)).toEqual({ type: "finish", reason: "stop", inputTokens: null, outputTokens: 4 });
});

it("fails even when it has nothing to say", async () => {
  const engine = openFakeLlm({ reply: "", failure: () => new Error("broken on purpose") });
  const { error } = await collect(engine.generate(llmRequest(), neverAborted()));
  expect(error?.message).toBe("broken on purpose");
});
