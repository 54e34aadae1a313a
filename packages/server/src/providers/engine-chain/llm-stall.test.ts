/** Models of a list that stop within their answer, take long to write the call of a tool, or are gone. */

import { expect, it } from "vitest";
import { neverAborted } from "../../ports/testing/collect.ts";
import { faultyLlm } from "../../ports/testing/engine-faults.ts";
import { openFakeLlm } from "../../ports/testing/fake-llm.ts";
import { llmRequest, textOf } from "../../ports/testing/llm-conformance.ts";
import type { LlmEngine, LlmPart } from "../../ports/llm.ts";
import { FIRST_TOKEN_LIMIT_MS } from "./llm-chain.ts";
import { llmOf, openWorld, over } from "./testing/chain-world.ts";

it("a model that stops within its answer fails after the limit of a first token", async () => {
  const world = openWorld();
  const stops = faultyLlm(() => "hang in the middle", "One two three four five six.");
  const chain = llmOf(world, [stops, openFakeLlm({ reply: "Seven." })]);
  const { user } = world;
  const { parts, error } = await over(world.clock, chain.generate(llmRequest({ user }), neverAborted()));
  expect(textOf(parts)).toBe("One two three four");
  expect(error).toMatchObject({ name: "EngineFailure", type: "timeout", isExhausted: false });
  expect(world.clock.nowMs()).toBeGreaterThanOrEqual(FIRST_TOKEN_LIMIT_MS);
  expect(world.clock.nowMs()).toBeLessThanOrEqual(FIRST_TOKEN_LIMIT_MS + 300);
  expect(world.used).toEqual(["llm first failed"]);
  const next = await over(world.clock, chain.generate(llmRequest({ user }), neverAborted()));
  expect(textOf(next.parts)).toBe("Seven.");
});

it("a model that writes long arguments of a tool has not stopped", async () => {
  const world = openWorld();
  const call = { id: "1", name: "book", arguments: { note: "long" } };
  const writes: LlmEngine = {
    ...openFakeLlm(),
    async *generate(): AsyncGenerator<LlmPart> {
      yield { type: "text-delta", text: "One moment." };
      for (let piece = 0; piece < 10; piece += 1) {
        await new Promise<void>((resolve) => void world.clock.after(FIRST_TOKEN_LIMIT_MS - 100, resolve));
        yield { type: "tool-call-delta" };
      }
      yield { type: "tool-call", call };
      yield { type: "finish", reason: "tool-calls", inputTokens: 1, outputTokens: 1 };
    },
  };
  const chain = llmOf(world, [writes, openFakeLlm()]);
  const { parts, error } = await over(
    world.clock,
    chain.generate(llmRequest(), neverAborted()),
    11 * FIRST_TOKEN_LIMIT_MS,
  );
  expect(error).toBeNull();
  expect(parts).toContainEqual({ type: "tool-call", call });
  expect(world.used).toEqual(["llm first answered"]);
});

it("a model that is gone moves no request for another model of the same engine", async () => {
  const world = openWorld();
  const gone: LlmEngine = { ...openFakeLlm({ models: ["small"] }), unusable: () => "its process is gone" };
  const main = openFakeLlm({ reply: "One.", models: ["small"] });
  const first: LlmEngine = {
    ...main,
    unusable: () => "one of its models is gone",
    engineOf: (model) => (model === "small" ? gone : main),
  };
  const chain = llmOf(world, [first, openFakeLlm({ reply: "Two." })]);
  const answerTo = async (model: string) =>
    textOf((await over(world.clock, chain.generate(llmRequest({ model }), neverAborted()))).parts);
  expect(await answerTo("default")).toBe("One.");
  expect(await answerTo("small")).toBe("Two.");
  expect(world.used).toEqual(["llm first answered", "llm second answered"]);
});
