import { describe, expect, test } from "vitest";
import { UNKNOWN_OUTCOME } from "../adoption/lost-tools.ts";
import { step, type CallState } from "../call.ts";
import { isAtRest } from "../testing/at-rest.ts";
import { testTool } from "../testing/fake-tools.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";

const STORY =
  "It is a lovely hotel by the sea. It has forty rooms. Breakfast is at eight. You will like it here.";
const LIMIT_MS = 20_000;

const requested = (call: Scenario, limitMs = LIMIT_MS): Scenario => {
  call.post({ type: "handoverRequested", limitMs });
  return call;
};
const isReady = ({ handover }: CallState): boolean => handover?.isReady === true;
const texts = (call: Scenario): string[] => call.messages.map(({ role, text }) => `${role}: ${text}`);

function asked(text = STORY, end: "finish" | "hang" = "finish"): Scenario {
  const call = joinedCall();
  call.llm.script = [{ text, firstMs: 10, pieceMs: 1, end }];
  return call.run(320).says("Tell me about the hotel", 960);
}

/** The first sentence is being heard, and those after it are rendered. */
const telling = (call = asked()): Scenario =>
  call.runUntil(({ reply }) => (reply?.segments[0]?.heardChars ?? 0) > 5).run(200);

describe("a call that another process is to continue", () => {
  test("ends its sentence, and nothing of the next one is heard", () => {
    const call = requested(telling());
    expect(call.effectsOf("handOver")).toHaveLength(0);
    call.runUntil(isReady);
    const segments = call.state.reply?.segments ?? [];
    expect(segments.map(({ status }) => status === "played")).toEqual([true, false, false, false]);
    expect(call.voice.playedChars(segments[1]?.segmentId ?? -1)).toBe(0);
    expect(call.effectsOf("handOver")).toHaveLength(1);
    const next = call.resumed(500).run(20_000);
    expect(texts(next)).toEqual([
      "agent: It is a lovely hotel by the sea.",
      "agent: It has forty rooms. Breakfast is at eight. You will like it here.",
    ]);
    expect(next.effectsOf("generateReply")).toHaveLength(0);
    expect(next.eventsOf("call.joined")).toHaveLength(0);
  });

  test("requests no sentence again whose voice is slow", () => {
    const call = joinedCall();
    call.llm.script = [{ text: `It is ${"a very lovely and ".repeat(12)}old hotel. It has forty rooms.` }];
    call.voice.script = ["ok", "hang"];
    telling(call.run(320).says("Tell me about the hotel", 960));
    requested(call).runUntil(isReady);
    expect(call.voice.spoken).toHaveLength(2);
    expect(call.effectsOf("clearPlayout")).toHaveLength(1);
  });

  test("keeps the text that comes while the sentence is being said", () => {
    const call = joinedCall();
    call.llm.script = [{ text: STORY, firstMs: 10, pieceMs: 40 }];
    telling(call.run(320).says("Tell me about the hotel", 960));
    const next = requested(call).runUntil(isReady).resumed(500).run(20_000);
    expect(texts(next).join(" ")).toContain("You will like it here.");
    expect(next.effectsOf("generateReply")).toHaveLength(0);
  });

  test("is given up at once where nobody speaks, and nobody is asked whether they are there", () => {
    const call = asked("Yes, it is.").runUntil(isAtRest);
    requested(call);
    expect(isReady(call.state)).toBe(true);
    const next = call.resumed(500).run(8_000);
    expect(texts(next)).toEqual([]);
    expect(next.eventsOf("call.resumed")).toHaveLength(1);
    next.says("And the rooms?", 960).run(500).runUntil(isAtRest);
    expect(next.messages.map(({ role }) => role)).toEqual(["user", "agent"]);
  });

  test("begins no reply, which the other process begins", () => {
    const call = joinedCall();
    call.llm.script = [{ text: "It is by the sea.", firstMs: 2_000 }];
    call
      .run(320)
      .says("Where is it?", 960)
      .runUntil(({ inputs }) => inputs.received > inputs.answered);
    requested(call);
    expect(isReady(call.state)).toBe(true);
    expect(call.voice.spoken).toHaveLength(0);
    const next = call.resumed(500, { llm: [{ text: "It is by the sea." }] });
    expect(texts(next.run(8_000))).toEqual(["agent: It is by the sea."]);
  });

  test("waits for the turn of the user, which the other process answers", () => {
    const call = joinedCall().run(320).says("Tell me", 400);
    requested(call).says("about the hotel", 900);
    expect(isReady(call.state)).toBe(false);
    call.runUntil(isReady);
    expect(texts(call)).toEqual([expect.stringContaining("user: ")]);
    expect(call.effectsOf("speak")).toHaveLength(0);
    const next = call.resumed(500, { llm: [{ text: "It is by the sea." }] }).run(8_000);
    expect(texts(next)).toEqual(["agent: It is by the sea."]);
  });

  test("is cut at the limit, and the other process says the sentence again", () => {
    const long = `It is ${"a very lovely and ".repeat(12)}old hotel. It has forty rooms.`;
    const call = requested(telling(asked(long)), 500).run(600);
    expect(isReady(call.state)).toBe(true);
    expect(call.effectsOf("clearPlayout")).toHaveLength(1);
    const next = call.resumed(500).run(60_000);
    expect(texts(next).at(-1)).toBe(`agent: ${long}`);
  });

  test("takes known words of the user with it at the limit", () => {
    const call = joinedCall().run(320).says("Tell me about the hotel", 960);
    call.runUntil(({ turn }) => turn.kind === "pausing" && turn.transcript !== null);
    requested(call, 0).run(1);
    expect(isReady(call.state)).toBe(true);
    expect(texts(call)).toEqual(["user: Tell me about the hotel"]);
    const next = call.resumed(500, { llm: [{ text: "It is by the sea." }] }).run(8_000);
    expect(texts(next)).toEqual(["agent: It is by the sea."]);
  });

  test("is not waited for when its client is lost", () => {
    const call = telling();
    call.post({ type: "transportLost" });
    requested(call);
    expect(isReady(call.state)).toBe(true);
    const lost = requested(telling());
    lost.post({ type: "transportLost" });
    expect(isReady(lost.state)).toBe(true);
  });

  test("tells a client that holds audio to drop the sentences after it", () => {
    const call = joinedCall({ dataMessages: { playbackClearBuffer: true } });
    call.voice.clientBufferMs = 30_000;
    call.llm.script = [{ text: STORY, firstMs: 10, pieceMs: 1 }];
    telling(call.run(320).says("Tell me about the hotel", 960).run(1_500));
    const before = call.messagesOf("playback_clear_buffer").length;
    requested(call).runUntil(isReady);
    expect(call.messagesOf("playback_clear_buffer")).toHaveLength(before + 1);
    expect(call.effects.at(-1)?.value.type).toBe("handOver");
  });

  test("does nothing more here once it is given up", () => {
    const call = requested(asked("Yes, it is.").runUntil(isAtRest));
    for (const event of [
      { type: "transportHungUp" },
      { type: "endRequested", cause: "shutdown" },
      { type: "handoverRequested", limitMs: 0 },
    ] as const)
      expect(step(call.state, { ...event, atMs: call.atMs + 1 })).toEqual({ state: call.state, effects: [] });
  });
});

describe("a call that is about to end", () => {
  test("says its last words here, and is not given up", () => {
    const call = asked("Yes, it is.").runUntil(isAtRest).sends({ type: "hang_up", message: "Goodbye then." });
    requested(call.run(100), 60_000).run(20_000);
    expect(call.effectsOf("handOver")).toHaveLength(0);
    expect(call.effectsOf("endCall")).toMatchObject([{ reason: "agent_hangup" }]);
  });

  test("ends here after the last message of a soft end", () => {
    const call = joinedCall({
      stage: { inactivityMessages: [{ afterMs: 3_000, text: "Goodbye then.", endBehavior: "soft" }] },
    });
    call
      .run(320)
      .says("Hello", 640)
      .runUntil(({ reply }) => reply?.purpose === "farewell" && reply.begun);
    requested(call).run(20_000);
    expect(call.effectsOf("handOver")).toHaveLength(0);
    expect(call.hasEnded).toBe(true);
  });
});

describe("tools of a call that another process is to continue", () => {
  const tools = [testTool("book"), testTool("pay")];

  function calling(how: FakeAnswer, calls = ["book"]): Scenario {
    const call = joinedCall({ stage: { tools } });
    call.llm.script = [{ text: "", calls: calls.map((name) => ({ name })) }];
    call.tools.script = [how];
    return call
      .run(320)
      .says("Book it please", 960)
      .runUntil(({ toolRound }) => toolRound !== null)
      .run(100);
  }
  type FakeAnswer = Scenario["tools"]["script"][number];

  test("that run are awaited, and the other process answers their results", () => {
    const call = requested(calling({ how: "answer", afterMs: 2_000 }));
    expect(isReady(call.state)).toBe(false);
    call.runUntil(isReady, 10_000);
    expect(call.messages.map(({ role }) => role)).toEqual(["user", "tool_call", "tool_result"]);
    const next = call.resumed(500, { llm: [{ text: "It is booked." }] }).run(8_000);
    expect(texts(next)).toEqual(["agent: It is booked."]);
    expect(next.tools.invoked).toHaveLength(0);
  });

  test("have an unknown outcome when the limit passes before they answer", () => {
    const call = requested(calling({ how: "hang" }), 1_000).run(1_100);
    expect(isReady(call.state)).toBe(true);
    const next = call.resumed(500, { llm: [{ text: "I am not sure." }] }).run(8_000);
    expect(next.messages[0]).toMatchObject({ role: "tool_result", text: UNKNOWN_OUTCOME.text });
    expect(next.tools.invoked).toHaveLength(0);
  });

  test("that were not sent yet are sent by the other process", () => {
    const call = joinedCall({ stage: { tools } });
    call.llm.script = [{ text: "I book it now. One moment.", calls: [{ name: "book" }] }];
    call
      .run(320)
      .says("Book it please", 960)
      .runUntil(({ reply }) => reply?.begun === true)
      .run(300);
    requested(call).runUntil(isReady);
    expect(call.tools.invoked).toHaveLength(0);
    const next = call.resumed(500, { llm: [{ text: "Done." }] }).run(12_000);
    expect(next.tools.invoked).toHaveLength(1);
  });

  test("that transfer the user keep the call here", () => {
    const transfer = testTool("transfer", { implementation: { kind: "builtIn", builtIn: "coldTransfer" } });
    const call = joinedCall({ stage: { tools: [transfer] } });
    call.llm.script = [{ text: "", calls: [{ name: "transfer", arguments: { target: "+15550100" } }] }];
    call.tools.script = [{ how: "hang" }];
    call
      .run(320)
      .says("Connect me please", 960)
      .runUntil(({ toolRound }) => toolRound !== null)
      .run(100);
    requested(call, 1_000).run(5_000);
    expect(call.effectsOf("handOver")).toHaveLength(0);
  });
});
