import { describe, expect, test } from "vitest";
import { joinedCall, Scenario } from "../../call/testing/scenario.ts";
import { testTool } from "../../call/testing/fake-tools.ts";
import { callWithQuestion } from "../../call/testing/tool-calls.ts";
import type { EndedSpan } from "../../ports/testing/fake-traces.ts";
import { CREATED_MS, traced, treeOf } from "./testing/traced-call.ts";

const STORY = "Once upon a time there was a small hotel by the sea. Its guests came every summer.";
const ANSWERED_MS = 12_000;

const asked = (call: Scenario = joinedCall()): Scenario => call.run(320).says("Any rooms left?", 960);

const named = (spans: readonly EndedSpan[], name: string): EndedSpan => {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`there is no span ${name}`);
  return found;
};

/** A call in which the agent has been telling its story for a moment. */
function storytelling(): Scenario {
  const firstSpeaker = {
    kind: "agent",
    delayMs: 0,
    text: STORY,
    prompt: null,
    uninterruptible: false,
  } as const;
  const call = new Scenario({ firstSpeaker });
  return call
    .join()
    .runUntil(({ reply }) => reply?.begun === true)
    .run(1_504);
}

const SPOKEN = ["    text_to_speech", "    text_to_speech", "    text_to_speech"];

describe("the spans of a call", () => {
  test("are its turns, and in each the requests to recogniser, model and voice", () => {
    const spans = traced(asked().run(ANSWERED_MS).says("Thank you", 960).run(ANSWERED_MS));
    const turn = ["  turn, speech finished", "    speech_to_text whisper", "    chat small", ...SPOKEN];
    expect(treeOf(spans)).toEqual(["call", ...turn, ...turn]);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(
      new Set(["0e9f3a525b4e4b579d0c8e8b0a3c9f11"]),
    );
  });

  test("have the names of the semantic conventions, and what the model server has counted", () => {
    const spans = traced(asked().run(ANSWERED_MS));
    expect(named(spans, "chat small")).toMatchObject({
      kind: "client",
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "fake",
        "gen_ai.request.model": "small",
        "gen_ai.request.temperature": 0,
        "gen_ai.response.time_to_first_chunk": 0.12,
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "server.address": "127.0.0.1",
        "server.port": 8000,
      },
    });
    expect(named(spans, "speech_to_text whisper")).toMatchObject({
      kind: "client",
      attributes: { "gen_ai.operation.name": "speech_to_text", "parley.transcript.understood": true },
    });
    // It runs on this machine.
    expect(named(spans, "text_to_speech")).toMatchObject({
      kind: "internal",
      attributes: { "gen_ai.output.type": "speech", "parley.text_chars": 25, "parley.audio_ms": 1_375 },
    });
    expect(named(spans, "call")).toMatchObject({
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": "0e9f3a52-5b4e-4b57-9d0c-8e8b0a3c9f11",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "parley.call.end_reason": "hangup",
        "parley.call.turns": 1,
      },
      notes: [{ name: "joined", atMs: CREATED_MS }],
    });
  });

  test("of a turn last from the first word of the user to the last of the agent, with each step between", () => {
    const spans = traced(asked().run(ANSWERED_MS));
    const turn = named(spans, "turn");
    expect(turn.startMs).toBe(CREATED_MS + 320);
    expect(turn.attributes).toMatchObject({
      "parley.turn.id": 1,
      "parley.turn.end_of_turn_ms": 384,
      "parley.turn.first_token_ms": 216,
      "parley.turn.first_played_ms": 400,
      "parley.turn.speculative": true,
    });
    const speechEndMs = CREATED_MS + 1_280;
    expect(turn.notes.map(({ name, atMs }) => [name, atMs - speechEndMs])).toEqual([
      ["end of turn", 384],
      ["transcript final", 92],
      ["first token", 216],
      ["first sentence", 264],
      ["first audio", 344],
      ["first played", 400],
    ]);
    for (const { startMs, endMs } of spans.filter(({ name }) => name !== "call")) {
      expect(startMs).toBeGreaterThanOrEqual(turn.startMs);
      expect(endMs).toBeLessThanOrEqual(turn.endMs);
    }
  });

  test("have nothing that was said, no prompt, and no argument or result of a tool", () => {
    const call = callWithQuestion(
      [testTool("rooms")],
      { text: "Let me look.", calls: [{ name: "rooms", arguments: { what: "argument-1" } }] },
      { text: "Two are left." },
    );
    const texts = JSON.stringify(traced(call.run(ANSWERED_MS)));
    const secrets = ["rooms left", "Let me", "are left", "argument-1", "All good", "concierge", "tools.test"];
    for (const secret of [...secrets, "call-token"]) expect(texts).not.toContain(secret);
  });

  test("are those of the requests alone up to the limit, and the call says how many it lacks", () => {
    const spans = traced(asked().run(ANSWERED_MS), 3);
    expect(treeOf(spans)).toEqual([
      "call",
      "  turn, speech finished",
      "    speech_to_text whisper",
      "    chat small",
    ]);
    expect(named(spans, "call").attributes).toMatchObject({ "parley.call.requests_without_span": 3 });
  });
});

describe("turns", () => {
  test("that are interrupted say so, and the words that interrupted are the next turn", () => {
    const spans = traced(storytelling().says("Wait a moment please", 1_200).run(ANSWERED_MS));
    const tree = treeOf(spans);
    expect(tree.filter((line) => line.startsWith("  turn"))).toEqual([
      "  turn, opening interrupted",
      "  turn, speech finished",
    ]);
    const [first, second] = spans.filter(({ name }) => name === "turn");
    expect(first?.attributes).toMatchObject({ "parley.turn.interrupted_by": "speech" });
    expect(first?.notes).toMatchObject([{ name: "interrupted", atMs: first?.endMs }]);
    expect(second?.startMs).toBeLessThan(first?.endMs ?? 0);
  });

  test("that are none, such as a cough, are dropped, and what was interrupted goes on", () => {
    expect(treeOf(traced(storytelling().coughs(300).run(ANSWERED_MS)))).toEqual([
      "call",
      "  turn, opening finished",
      "    text_to_speech",
      "    text_to_speech",
      "  turn, speech dropped",
      "    speech_to_text whisper",
    ]);
  });

  test("in which the user goes on have the work that was begun early and cancelled", () => {
    const call = joinedCall().run(320).says("I would like", 960).run(300).says("a room please", 960);
    const tree = treeOf(traced(call.run(ANSWERED_MS)));
    expect(tree[1]).toBe("  turn, speech finished");
    expect(tree).toContain("    chat small, cancelled");
    expect(tree.filter((line) => line.includes("turn"))).toHaveLength(1);
  });

  test("of typed words, each its own", () => {
    const typed = (text: string) =>
      ({ type: "user_text_message", text, urgency: "immediate", threadId: "UI" }) as const;
    const call = joinedCall().run(320).sends(typed("Hello")).run(1_000).sends(typed("Stop"));
    const spans = traced(call.run(ANSWERED_MS));
    const turns = treeOf(spans).filter((line) => line.includes("turn"));
    expect(turns).toEqual(["  turn, text interrupted", "  turn, text finished"]);
    expect(named(spans, "call").attributes).toMatchObject({ "parley.call.turns": 2 });
  });

  test("that the end of the call cuts off end with it", () => {
    const spans = traced(asked().run(600));
    expect(treeOf(spans)[1]).toBe("  turn, speech cut_off");
    expect(named(spans, "turn").endMs).toBe(named(spans, "call").endMs);
  });

  test("are none in a call that nobody joins", () => {
    const spans = traced(new Scenario().run(60_000));
    expect(treeOf(spans)).toEqual(["call"]);
    expect(spans[0]?.attributes).toMatchObject({ "parley.call.end_reason": "unjoined" });
  });
});

describe("failures", () => {
  const requests = (call: Scenario, operation: string): string[] =>
    treeOf(traced(call))
      .map((line) => line.trim())
      .filter((line) => line.startsWith(operation));

  test("of the model are each a span, in one turn with the answer after them", () => {
    const call = joinedCall();
    call.llm.script = [
      { text: "", end: "fail" },
      { text: "", end: "hang" },
    ];
    asked(call).run(30_000);
    expect(requests(call, "turn")).toEqual(["turn, speech finished"]);
    expect(requests(call, "chat")).toEqual([
      "chat small, failed: _OTHER",
      "chat small, failed: timeout",
      "chat small",
    ]);
  });

  test("of a model that says their kind have it", () => {
    const call = joinedCall();
    call.llm.script = [{ text: "", end: "hang" }];
    asked(call).run(500);
    const replyId = call.state.reply?.replyId ?? 0;
    call.post({ type: "replyFailed", replyId, error: "busy", errorType: "429" });
    expect(requests(call.run(50), "chat")).toEqual(["chat small, failed: 429"]);
  });

  test("of the model until the call ends are a failure of the call", () => {
    const call = joinedCall();
    call.llm.usual = () => ({ text: "", end: "fail" });
    const tree = treeOf(traced(asked(call).run(60_000)));
    expect(tree[0]).toBe("call, failed: system_error");
    expect(tree).toContain("  turn, speech unanswered");
    expect(tree).toContain("  turn, parting finished");
  });

  test("of the voice and the recogniser", () => {
    const call = joinedCall();
    call.stt.script = ["fail", "hang"];
    call.voice.script = ["fail", "empty"];
    asked(call).run(30_000);
    expect(requests(call, "speech_to_text")).toEqual([
      "speech_to_text whisper, failed: _OTHER",
      "speech_to_text whisper, failed: timeout",
      "speech_to_text whisper",
    ]);
    const spoken = requests(call, "text_to_speech").filter((line) => line.includes("failed"));
    expect(spoken).toEqual(["text_to_speech, failed: _OTHER", "text_to_speech, failed: no_audio"]);
  });
});

test("name the engine of a list that has answered, the last one where several have", () => {
  const other = { name: "vendor", server: { address: "models.example", port: 443 } };
  const spans = traced(asked().run(ANSWERED_MS), undefined, (event, tracing) => {
    if (event.type === "replyTextReceived")
      tracing.served({ kind: "llm", replyId: event.replyId }, { ...other, model: "large", entry: "backup" });
    if (event.type === "transcriptFinished")
      tracing.served({ ...event, kind: "stt" }, { name: "local", entry: "own" });
    if (event.type !== "segmentAudioReceived") return;
    tracing.served({ kind: "tts", segmentId: event.segmentId }, { name: "fake", entry: "first" });
    tracing.served({ kind: "tts", segmentId: event.segmentId }, { ...other, entry: "second" });
    tracing.served({ kind: "tts", segmentId: 999 }, { ...other, entry: "of a request that is over" });
  });
  expect(named(spans, "chat large").attributes).toMatchObject({
    "gen_ai.provider.name": "vendor",
    "gen_ai.request.model": "large",
    "server.address": "models.example",
    "server.port": 443,
    "parley.engine": "backup",
    "gen_ai.usage.input_tokens": 100,
  });
  const { attributes } = named(spans, "speech_to_text");
  expect(attributes).toMatchObject({ "gen_ai.provider.name": "local", "parley.engine": "own" });
  // Those of the first engine of the list are not those of this one.
  expect([attributes["server.address"], attributes["gen_ai.request.model"]]).toEqual([undefined, undefined]);
  expect(named(spans, "text_to_speech").attributes).toMatchObject({
    "gen_ai.provider.name": "vendor",
    "parley.engine": "second",
  });
});

describe("tools", () => {
  const LOOKS = { text: "Let me look.", calls: [{ name: "rooms" }] };
  const client = { implementation: { kind: "client" } } as const;

  test.each([
    ["http", {}],
    ["client", client],
  ] as const)("are spans between the two generations of their turn: %s", (kind, changes) => {
    const call = callWithQuestion([testTool("rooms", changes)], LOOKS, { text: "Two." });
    const spans = traced(call.run(ANSWERED_MS));
    expect(treeOf(spans).slice(1)).toEqual([
      "  turn, speech finished",
      "    speech_to_text whisper",
      "    chat small",
      "    text_to_speech",
      "    execute_tool rooms",
      "    chat small",
      "    text_to_speech",
    ]);
    expect(named(spans, "execute_tool rooms")).toMatchObject({
      kind: "client",
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "rooms",
        "gen_ai.tool.call.id": call.tools.invoked[0]?.invocationId,
        "parley.tool.kind": kind,
      },
    });
    expect(named(spans, "chat small").attributes).toMatchObject({ "parley.tool_calls": 1 });
  });

  test.each([
    ["http", "fail", "tool_error", {}],
    ["http", "hang", "timeout", {}],
    ["client", "fail", "tool_error", client],
    ["client", "hang", "timeout", client],
  ] as const)("of %s that %s have the error %s", (_kind, how, errorType, changes) => {
    const call = callWithQuestion([testTool("rooms", changes)], LOOKS);
    call.tools.script = [{ how }];
    expect(named(traced(call.run(ANSWERED_MS)), "execute_tool rooms").errorType).toBe(errorType);
  });

  test("that were begun early are in the turn of the words that asked for them", () => {
    const tool = testTool("rooms", { precomputable: true });
    const tree = treeOf(traced(callWithQuestion([tool], LOOKS, { text: "Two." }).run(ANSWERED_MS)));
    expect(tree.filter((line) => line.includes("turn"))).toHaveLength(1);
    expect(tree).toContain("    execute_tool rooms");
  });

  test("that nobody waits for end when they answer", () => {
    const tool = testTool("rooms", { ...client, staticResponse: "Looking." });
    const call = callWithQuestion([tool], LOOKS);
    call.tools.script = [{ how: "answer", afterMs: 1_500 }];
    const { startMs, endMs } = named(traced(call.run(ANSWERED_MS)), "execute_tool rooms");
    expect(endMs - startMs).toBe(1_500);
  });
});
