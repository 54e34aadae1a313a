/** Tools in live calls: from the model's call to the reply that knows the result, on a manual clock. */

import nodeProcess from "node:process";
import { beforeAll, expect, it } from "vitest";
import type { StagePlan } from "../../plan/plan.ts";
import type { ToolPlan } from "../../plan/tool-plan.ts";
import { initResampler } from "../../media/resample.ts";
import type { LlmEngine, LlmPart, LlmRequest } from "../../ports/llm.ts";
import { openFakeToolInvoker, type FakeToolOptions } from "../../ports/testing/fake-tool-invoker.ts";
import { openCallWorld } from "../testing/call-world.ts";
import { openFakeEngines } from "../testing/fakes.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

const WEATHER: ToolPlan = {
  name: "weather",
  callToolId: "ct-1",
  toolId: null,
  description: "Tells the weather.",
  parameters: { type: "object", properties: { city: { type: "string" } } },
  dynamic: [{ name: "city", location: "query" }],
  fixed: [{ name: "unit", location: "query", value: "celsius" }],
  automatic: [],
  implementation: {
    kind: "http",
    method: "GET",
    urlPattern: "https://weather.example/",
    credentials: [],
    callToken: null,
  },
  timeoutMs: 2_500,
  precomputable: false,
  defaultReaction: "speaks",
  staticResponse: null,
};

/** Calls the tool for what the user says, and then says the tool's result. */
function openCallingLlm(name = "weather"): LlmEngine & { readonly requests: LlmRequest[] } {
  const requests: LlmRequest[] = [];
  return {
    name: "calling",
    models: [],
    requests,
    async *generate(request): AsyncGenerator<LlmPart> {
      requests.push(request);
      await Promise.resolve();
      const last = request.messages.at(-1);
      if (last?.role === "tool") yield { type: "text-delta", text: `The tool says: ${last.text}` };
      else {
        yield { type: "text-delta", text: "One moment." };
        const id = `model-${String(requests.length)}`;
        yield { type: "tool-call", call: { id, name, arguments: { city: "Bern" } } };
      }
      yield { type: "finish", reason: "stop", inputTokens: 1, outputTokens: 1 };
    },
    close: () => Promise.resolve(),
  };
}

async function askOnce(options: FakeToolOptions = {}, name?: string) {
  const llm = openCallingLlm(name);
  const invoker = openFakeToolInvoker(options);
  const world = openCallWorld({ ...openFakeEngines(), llm }, undefined, invoker);
  const stage: Partial<StagePlan> = { tools: [WEATHER] };
  const { transport, hear, plan } = await world.joined({
    firstSpeaker: { kind: "user", fallback: null },
    stage,
  });
  await hear(1_000, true);
  await hear(12_000, false);
  const said = transport.messages.flatMap((message) =>
    message.type === "transcript" && message.role === "agent" && message.final ? [message.text] : [],
  );
  return { ...world, transport, plan, llm, invoker, said };
}

it("runs a tool once, and the next reply knows its result", async () => {
  const { invoker, llm, said, plan } = await askOnce({ answer: () => "sunny" });
  expect(invoker.calls).toMatchObject([
    {
      callId: plan.callId,
      accountId: plan.accountId,
      toolName: "weather",
      implementation: { kind: "http", urlPattern: "https://weather.example/" },
      values: expect.arrayContaining([
        { name: "city", location: "query", value: "Bern" },
        { name: "unit", location: "query", value: "celsius", fixed: true },
      ]) as unknown,
    },
  ]);
  expect(llm.requests[0]?.tools).toEqual([
    { name: "weather", description: "Tells the weather.", parameters: WEATHER.parameters },
  ]);
  expect(llm.requests.at(-1)?.messages.at(-1)).toMatchObject({
    role: "tool",
    toolName: "weather",
    text: "sunny",
  });
  expect(said.join(" ")).toBe("One moment. The tool says: sunny");
});

it("continues after a failure and counts it", async () => {
  const text = "The tool failed: HTTP 404";
  const { records, said } = await askOnce({
    answer: () => ({ kind: "failed", cause: "error", text, errorDetails: "HTTP 404 and more" }),
  });
  expect(said.join(" ")).toBe(`One moment. The tool says: ${text}`);
  expect(records.toolFailures).toHaveLength(1);
});

it("runs nothing for a tool that there is not, and tells the model", async () => {
  const { invoker, llm } = await askOnce({}, "traffic");
  expect(invoker.calls).toEqual([]);
  expect(llm.requests.length).toBeGreaterThan(1);
  expect(llm.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", toolName: "traffic" });
});

it("lets go of a tool that runs when the call ends", async () => {
  const { invoker, transport, calls, clock } = await askOnce({ delayMs: 2_400 });
  expect(invoker.calls).toHaveLength(1);
  transport.lose(true, 1000);
  await clock.advance(5_000);
  expect(invoker.aborted).toEqual([invoker.calls[0]?.invocationId]);
  expect([calls.count(), clock.pending()]).toEqual([0, 0]);
});
