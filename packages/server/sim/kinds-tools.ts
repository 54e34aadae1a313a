/** Tools that work, fail, hang, answer twice or end the call, stages, injected words, clocks. */

import { ClientDataMessage } from "@parley/schema";
import { testTool, type ToolRun } from "../src/call/testing/fake-tools.ts";
import type { Generation } from "../src/call/testing/fake-engines.ts";
import type { Scenario } from "../src/call/testing/scenario.ts";
import type { Draw } from "./draw.ts";
import { asks, sometime, type Kind } from "./kind.ts";

const TOOLS = [
  testTool("lookUp"),
  testTool("book", { defaultReaction: "listens" }),
  testTool("peek", { precomputable: true }),
  testTool("ask", { implementation: { kind: "client" } }),
];

const RUNS: readonly [ToolRun, ...ToolRun[]] = [
  { how: "answer", afterMs: 0 },
  { how: "answer", afterMs: 900, result: "3 rooms" },
  { how: "answer", afterMs: 2_400, updateCallState: { seen: true, gone: null } },
  { how: "twice", afterMs: 300 },
  { how: "fail", afterMs: 200 },
  { how: "hang" },
  { how: "answer", responseType: "new-stage", result: "{}" },
];

function callsOf(draw: Draw): NonNullable<Generation["calls"]> {
  return Array.from({ length: draw.whole(1, 3) }, () => ({
    name: draw.one(["lookUp", "book", "peek", "ask", "nothingOfTheKind"]),
    arguments: { what: "rooms" },
    ...(draw.chance(0.1) ? { problem: "what is required" } : {}),
  }));
}

function withTools(call: Scenario, draw: Draw): void {
  call.tools.script = Array.from({ length: draw.whole(1, 6) }, () => draw.one(RUNS));
  call.tools.stages = [draw.one([null, "hang", { stage: { systemPrompt: "You are the cashier." } }])];
  call.llm.script = Array.from({ length: draw.whole(1, 3) }, () => ({
    text: draw.one(["", "One moment, please.", "Let me look that up for you. It takes a second."]),
    calls: callsOf(draw),
    firstMs: draw.whole(0, 600),
  }));
}

/** No invocation runs twice, regardless of what the caller does meanwhile. */
function expectOnce(call: Scenario): void {
  const ids = call.tools.invoked.map(({ invocationId }) => invocationId);
  if (new Set(ids).size !== ids.length) throw new Error("a tool ran twice for one invocation");
}

export const tools: Kind = {
  plan: () => ({ stage: { tools: TOOLS } }),
  play(call, draw) {
    withTools(call, draw);
    asks(call, draw);
    if (draw.chance(0.8)) sometime(call, draw).says("No, wait a moment", draw.whole(200, 1_500));
    call.run(12_000);
  },
  expect: expectOnce,
};

export const forced: Kind = {
  plan: () => ({ stage: { tools: TOOLS } }),
  play(call, draw) {
    withTools(call, draw);
    asks(call, draw);
    for (let n = draw.whole(1, 4); n > 0; n -= 1) {
      sometime(call, draw).sends({
        type: "forced_agent_message",
        content: draw.one(["", "Please hold the line.", "I look that up."]),
        toolCalls: draw.chance(0.6) ? [{ name: draw.one(["lookUp", "peek", "ask"]), arguments: {} }] : [],
        knownToolResults: [],
        uninterruptible: draw.chance(0.3),
        urgency: draw.one(["soon", "immediate"]),
        threadId: "UI",
      });
      if (draw.chance(0.3)) call.says("Wait", draw.whole(100, 900));
    }
    call.run(15_000);
  },
  expect: expectOnce,
};

function sentTo(draw: Draw): ToolRun {
  const threadId = draw.one(["UI", "_PARENT", "a", "b", "nobody"]);
  const dataMessage = draw.one<object>([
    { type: "user_text_message", text: "By the way", threadId, urgency: "later" },
    { type: "forced_agent_message", content: "Done.", threadId },
    {
      type: "spawn_thread",
      newThreadId: draw.one(["a", "b"]),
      parentThreadId: threadId,
      ifExists: "replace",
    },
  ]);
  return { how: "answer", responseType: "send-to-thread", result: JSON.stringify({ dataMessage }) };
}

/** Threads that are spawned, copied, sent to, replaced and that fail, beside a conversation that is interrupted. */
export const threads: Kind = {
  plan: () => ({ stage: { tools: TOOLS } }),
  play(call, draw) {
    withTools(call, draw);
    call.tools.script = Array.from({ length: draw.whole(2, 12) }, () =>
      draw.chance(0.4) ? sentTo(draw) : draw.one(RUNS),
    );
    call.llm.sideScript = Array.from({ length: draw.whole(2, 12) }, () => ({
      text: draw.one(["", "I look into it.", "Nothing was found."]),
      calls: draw.chance(0.6) ? callsOf(draw) : [],
      firstMs: draw.whole(0, 2_000),
      end: draw.one(["finish", "finish", "finish", "fail", "refuse", "hang"] as const),
    }));
    for (let n = draw.whole(2, 8); n > 0; n -= 1) {
      const [newThreadId, parentThreadId] = [draw.one(["a", "b", "c"]), draw.one(["UI", "a", "b"])];
      const ifExists = draw.one(["reject", "replace"] as const);
      const additionalMessages = draw.chance(0.7) ? [{ role: "MESSAGE_ROLE_USER", text: "Look it up" }] : [];
      const spawned = { type: "spawn_thread", newThreadId, parentThreadId, ifExists, additionalMessages };
      call.sends(ClientDataMessage.parse(spawned));
      const told = { type: "user_text_message", text: "And this", threadId: newThreadId };
      if (draw.chance(0.5)) call.sends(ClientDataMessage.parse(told));
      if (draw.chance(0.5)) asks(call, draw);
      call.run(draw.whole(0, 3_000));
    }
    call.run(40_000);
    call.llm.sideScript = [];
  },
  expect: expectOnce,
};

/** Reminders, and a medium that changes during the call. */
export const clocks: Kind = {
  plan: (draw) => ({
    initialOutputMedium: draw.one(["voice", "text"]),
    stage: {
      inactivityMessages: [
        { afterMs: draw.whole(500, 6_000), text: "Are you still there?", endBehavior: "none" },
        { afterMs: draw.whole(500, 6_000), text: "Hello?", endBehavior: "none" },
      ],
    },
  }),
  play(call, draw) {
    for (let n = draw.whole(1, 4); n > 0; n -= 1) {
      call.run(draw.whole(0, 12_000));
      if (draw.chance(0.4)) call.sends({ type: "set_output_medium", medium: draw.one(["voice", "text"]) });
      if (draw.chance(0.6)) asks(call, draw);
      else call.coughs(draw.whole(60, 300));
    }
    call.sends({ type: "set_output_medium", medium: "voice" });
  },
};
