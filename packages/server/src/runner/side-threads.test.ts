/** Side threads of live calls, on a manual clock and without a network. */

import nodeProcess from "node:process";
import { beforeAll, expect, test, vi } from "vitest";
import { initResampler } from "../media/resample.ts";
import type { LlmEngine, LlmRequest } from "../ports/llm.ts";
import { openFakeLlm } from "../ports/testing/fake-llm.ts";
import { openCallWorld } from "./testing/call-world.ts";
import { openFakeEngines, openHangingLlm } from "./testing/fakes.ts";
import type { PlanChanges } from "./testing/plan.ts";

const userFirst: PlanChanges = { firstSpeaker: { kind: "user", fallback: null } };

beforeAll(async () => {
  await initResampler(nodeProcess);
});

const spawn = (newThreadId: string, text: string): string =>
  JSON.stringify({
    type: "spawn_thread",
    newThreadId,
    additionalMessages: [{ role: "MESSAGE_ROLE_USER", text }],
  });

function withLlm(llm: LlmEngine) {
  return openCallWorld({ ...openFakeEngines(), llm });
}

test("a thread has the model of the call, and its text comes as data without any audio", async () => {
  const asked: LlmRequest[] = [];
  const reply = (request: LlmRequest): string => {
    asked.push(request);
    return "Three rooms are left.";
  };
  const { joined, records, clock } = withLlm(openFakeLlm({ reply }));
  const { transport } = await joined(userFirst);
  await clock.advance(100);
  const frames = transport.frames.filter((frame) => frame.some((sample) => sample !== 0)).length;
  transport.read(spawn("research", "Look for rooms."));
  const completed = () => transport.messages.find(({ type }) => type === "side_generation_completed");
  await vi.waitFor(() => expect(completed()).toBeDefined(), 60_000);
  expect(completed()).toEqual({
    type: "side_generation_completed",
    threadId: "research",
    text: "Three rooms are left.",
    toolCalls: [],
  });
  expect(asked).toMatchObject([{ systemPrompt: "You are a test.", messages: [{ text: "Look for rooms." }] }]);
  // Not a user of a list of engines: its steps are those of the conversation.
  expect(asked[0]).not.toHaveProperty("user");
  await clock.advance(500);
  expect(transport.frames.filter((frame) => frame.some((sample) => sample !== 0))).toHaveLength(frames);
  await vi.waitFor(() => expect(records.sideTokens).toHaveLength(1), 60_000);
  expect(records.sideTokens[0]).toMatchObject({ outputTokens: 4 });
  expect(records.messages).toEqual([]);
});

test("the end of the call aborts what its threads generate", async () => {
  const signals: AbortSignal[] = [];
  const hanging = openHangingLlm();
  const llm: LlmEngine = {
    ...hanging,
    generate: (request, signal) => {
      signals.push(signal);
      return hanging.generate(request, signal);
    },
  };
  const { joined, records, clock } = withLlm(llm);
  const { transport } = await joined(userFirst);
  await clock.advance(100);
  for (const id of ["a", "b"]) transport.read(spawn(id, "Go"));
  await vi.waitFor(() => expect(signals).toHaveLength(2), 60_000);
  transport.read(JSON.stringify({ type: "hang_up" }));
  await vi.waitFor(() => expect(records.ends).toHaveLength(1), 60_000);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  const reasons = transport.messages.flatMap((message) =>
    message.type === "thread_terminated" ? [[message.threadId, message.reason]] : [],
  );
  expect(reasons).toEqual([
    ["a", "call_ended"],
    ["b", "call_ended"],
  ]);
});
