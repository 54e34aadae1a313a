import { describe, expect, test } from "vitest";
import { testTool } from "../../call/testing/fake-tools.ts";
import { callWithThreads, send, spawn } from "../../call/testing/thread-calls.ts";
import type { EndedSpan } from "../../ports/testing/fake-traces.ts";
import { traced, treeOf } from "./testing/traced-call.ts";

const LOOK_UP = { text: "I look.", calls: [{ name: "lookUp", arguments: { what: "rooms" } }] };
const threadsIn = (spans: readonly EndedSpan[]): readonly EndedSpan[] =>
  spans.filter(({ name }) => name === "thread").toSorted((a, b) => a.startMs - b.startMs);

describe("the span of a side thread", () => {
  test("has its generations and the tools that it calls, beside the turns of the conversation", () => {
    const call = callWithThreads([testTool("lookUp")]);
    call.llm.sideScript = [LOOK_UP, { text: "Three rooms." }];
    spawn(call, "research", "Look").run(3_000);
    call.says("Good morning", 640).run(8_000);
    const spans = traced(call);
    expect(treeOf(spans)).toEqual([
      "call",
      "  thread",
      "    chat small",
      "    execute_tool lookUp",
      "    chat small",
      "  turn, speech finished",
      "    speech_to_text whisper",
      "    chat small",
      "    text_to_speech",
      "    text_to_speech",
      "    text_to_speech",
    ]);
    const [thread] = threadsIn(spans);
    expect(thread).toMatchObject({
      errorType: null,
      attributes: { "parley.thread.id": "research", "parley.thread.outcome": "call_ended" },
    });
    const [first] = spans.filter(({ parentId }) => parentId === thread?.spanId);
    expect(first?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 20,
      "parley.tool_calls": 1,
      "server.address": "127.0.0.1",
    });
    expect(first?.attributes).toHaveProperty(["gen_ai.response.time_to_first_chunk"]);
    // Those of threads are part of the sum of the call.
    const [root] = spans.filter(({ name }) => name === "call");
    expect(root?.attributes).toMatchObject({ "gen_ai.usage.input_tokens": 300, "parley.call.turns": 1 });
    for (const secret of ["I look.", "Three rooms", "Look"])
      expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain(secret);
  });

  test("is another one for a thread that takes the place of its id", () => {
    const call = callWithThreads();
    call.llm.sideScript = [{ text: "Never.", firstMs: 20_000 }];
    spawn(call, "a", "First").run(1_000);
    spawn(call, "a", "Second", { ifExists: "replace" }).run(3_000);
    const spans = traced(call);
    expect(treeOf(spans)).toEqual([
      "call",
      "  thread",
      "    chat small, cancelled",
      "  thread",
      "    chat small",
    ]);
    expect(threadsIn(spans).map(({ attributes }) => attributes["parley.thread.outcome"])).toEqual([
      "replaced",
      "call_ended",
    ]);
  });

  test("is none for a thread that generates nothing", () => {
    const call = callWithThreads();
    spawn(call, "a", null).run(1_000);
    expect(treeOf(traced(call))).toEqual(["call"]);
  });

  test("has a failure in each attempt that failed, and fails with the thread", () => {
    const call = callWithThreads();
    call.llm.sideScript = [
      { text: "", end: "fail" },
      { text: "", end: "hang" },
      { text: "", end: "hang" },
    ];
    spawn(call, "a", "Go").run(90_000);
    expect(treeOf(traced(call))).toEqual([
      "call",
      "  thread, failed: failed",
      "    chat small, failed: _OTHER",
      "    chat small, failed: timeout",
      "    chat small, failed: timeout",
    ]);
  });

  test("says of a limit that ended the thread, and ends there", () => {
    const call = callWithThreads();
    spawn(call, "a", "Go", { limits: { generationLimit: 1 } }).run(2_000);
    send(call, { type: "user_text_message", text: "More", threadId: "a" }).run(5_000);
    const spans = traced(call);
    expect(treeOf(spans)).toEqual(["call", "  thread, failed: limit_reached", "    chat small"]);
    const [root] = spans.filter(({ name }) => name === "call");
    expect(threadsIn(spans)[0]?.endMs).toBeLessThan(root?.endMs ?? 0);
  });

  test("names the model of a list that answers", () => {
    const call = callWithThreads();
    spawn(call, "a", "Go").run(2_000);
    const spans = traced(call, undefined, (event, tracing) => {
      if (event.type !== "sideTextReceived") return;
      const engine = { name: "vendor", model: "large", entry: "backup" };
      tracing.served({ kind: "side", generationId: event.generationId }, engine);
    });
    expect(treeOf(spans)).toEqual(["call", "  thread", "    chat large"]);
  });

  test("is left out beyond the limit, with its requests", () => {
    const call = callWithThreads();
    spawn(call, "a", "Go").run(2_000);
    const spans = traced(call, 0);
    expect(treeOf(spans)).toEqual(["call"]);
    expect(spans[0]?.attributes).toMatchObject({ "parley.call.requests_without_span": 1 });
  });
});
