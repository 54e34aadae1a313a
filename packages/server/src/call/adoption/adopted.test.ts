import { describe, expect, test } from "vitest";
import { isAtRest } from "../testing/at-rest.ts";
import { testTool } from "../testing/fake-tools.ts";
import type { MessageRecord } from "../effects.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";
import { UNKNOWN_OUTCOME } from "./lost-tools.ts";

const STORY =
  "It is a lovely hotel by the sea. It has forty rooms. Breakfast is at eight. You will like it here.";

function asked(text = STORY, end: "finish" | "hang" = "finish"): Scenario {
  const call = joinedCall();
  call.llm.script = [{ text, firstMs: 10, pieceMs: 1, end }];
  return call.run(320).says("Tell me about the hotel", 960);
}

const texts = (call: Scenario): string[] => call.messages.map(({ role, text }) => `${role}: ${text}`);

describe("a call that another process continues", () => {
  test("has its history, tells of it once, and is not joined again", () => {
    const lost = asked("Yes, it is.").runUntil(isAtRest);
    const call = lost.resumed(4_000);
    expect(call.eventsOf("call.resumed")).toHaveLength(1);
    expect(call.eventsOf("call.joined")).toHaveLength(0);
    expect(call.effectsOf("recordJoined")).toHaveLength(0);
    call.run(6_000).says("And the rooms?", 960).run(500).runUntil(isAtRest);
    const { messages } = call.effectsOf("generateReply").at(-1)?.request ?? { messages: [] };
    expect(messages.map(({ role }) => role)).toEqual(["user", "agent", "agent", "user"]);
    expect(JSON.stringify(messages)).toContain("Tell me about the hotel");
  });

  test("asks whether the user is there where nothing else is to be said", () => {
    const call = asked("Yes, it is.").runUntil(isAtRest).resumed(4_000).run(5_000);
    expect(texts(call)).toEqual(["agent: I am back. Are you still there?"]);
  });

  test("answers a turn that was not answered", () => {
    const lost = asked("Never said.", "hang");
    lost.runUntil(({ inputs, reply }) => inputs.received > 0 && reply !== null);
    const call = lost.resumed(4_000, { llm: [{ text: "It is by the sea." }] });
    expect(texts(call.run(8_000))).toEqual(["agent: It is by the sea."]);
  });

  test("says the rest of a reply from the sentence that was not heard", () => {
    const lost = asked().runUntil(({ reply }) => reply?.segments[1]?.status === "played");
    const call = lost.resumed(4_000).run(20_000);
    expect(texts(call)).toEqual([
      "agent: It is a lovely hotel by the sea. It has forty rooms.",
      "agent: Breakfast is at eight. You will like it here.",
    ]);
    expect(call.messages[0]?.metadata).toEqual({ interrupted: "true" });
    expect(call.effectsOf("generateReply")).toHaveLength(0);
  });

  test("lets the model go on where the end of a reply is not known", () => {
    const lost = asked("It is a lovely hotel by the sea. And it has", "hang");
    lost.runUntil(({ reply }) => reply?.segments[0]?.status === "played");
    const call = lost.resumed(4_000);
    expect(call.effectsOf("generateReply")[0]?.request.instruction).toContain("Go on from where it stopped");
  });

  test("says its opening where nobody has heard it", () => {
    const opening = {
      kind: "agent",
      delayMs: 0,
      text: "Welcome.",
      prompt: null,
      uninterruptible: false,
    } as const;
    const lost = joinedCall({ firstSpeaker: opening }).run(40);
    expect(texts(lost.resumed(4_000).run(5_000))).toEqual(["agent: Welcome."]);
  });

  test("uses no ordinal that a client may have seen", () => {
    const lost = asked().runUntil(({ reply }) => reply?.segments[1]?.status === "played");
    const seen = lost.messagesOf("transcript").map(({ ordinal }) => ordinal);
    const call = lost.resumed(4_000).run(20_000);
    const [closed, ...later] = call.messagesOf("transcript").map(({ ordinal }) => ordinal);
    // The message that was being heard is closed under its own number.
    expect(closed).toBe(Math.max(...seen));
    expect(Math.min(...later)).toBeGreaterThan(Math.max(...seen) + 50);
  });

  test("begins no last words twice", () => {
    const lost = asked("Yes, it is.").runUntil(isAtRest).sends({ type: "hang_up", message: "Goodbye then." });
    const call = lost.run(200).resumed(4_000);
    expect(call.hasEnded).toBe(true);
    expect(call.effectsOf("endCall")).toMatchObject([{ reason: "agent_hangup" }]);
  });

  test("ends at its time, however long nobody had it", () => {
    const lost = joinedCall({ maxDurationMs: 60_000 }).run(320).says("Good morning", 640).runUntil(isAtRest);
    const call = lost.resumed(30_000);
    const leftMs = 60_000 - call.atMs;
    call.run(leftMs - 1_000);
    expect(call.hasEnded).toBe(false);
    expect(call.state.phase.kind).toBe("live");
    call.run(2_000);
    expect(call.hasEnded || call.state.phase.kind === "parting").toBe(true);
  });

  test("counts the silence of the user from where it was", () => {
    const message = { afterMs: 10_000, text: "Hello?", endBehavior: "none" } as const;
    const lost = joinedCall({ stage: { inactivityMessages: [message, message] } }).run(10_500);
    lost.runUntil(isAtRest);
    expect(lost.state.inactivity.next).toBe(1);
    const call = lost.resumed(25_000).run(200);
    expect(call.state.inactivity.next).toBe(1);
  });
});

describe("tools of a call that another process continues", () => {
  const tools = [testTool("book"), testTool("show", { implementation: { kind: "client" } })];

  function calling(name: string): Scenario {
    const call = joinedCall({ stage: { tools } });
    call.llm.script = [{ text: "", calls: [{ name }] }];
    call.tools.script = [{ how: "hang" }];
    return call
      .run(320)
      .says("Book it please", 960)
      .runUntil(({ toolRound }) => toolRound !== null);
  }

  test.each(["book", "show"])("%s is not sent again, and the model is told that nobody knows", (name) => {
    const lost = calling(name).run(100);
    expect(lost.tools.invoked).toHaveLength(1);
    const call = lost.resumed(4_000, { llm: [{ text: "I am not sure that it worked." }] });
    call.run(8_000);
    expect(call.tools.invoked).toHaveLength(0);
    expect(call.messages[0]).toMatchObject({ role: "tool_result", text: UNKNOWN_OUTCOME.text });
    expect(texts(call).at(-1)).toBe("agent: I am not sure that it worked.");
  });

  test("a result that a client sends later is no fault", () => {
    const lost = calling("show").run(100);
    const call = lost.resumed(4_000);
    const invocationId = lost.tools.invoked[0]?.invocationId ?? "";
    call.sends({ type: "client_tool_result", invocationId, result: "shown", responseType: "tool-response" });
    expect(call.eventsOf("tool.failed").map(({ text }) => text)).toHaveLength(1);
  });
});

describe("messages that were stored after the snapshot", () => {
  const message = (
    index: number,
    role: MessageRecord["role"],
    text: string,
    id: string | null = null,
  ): MessageRecord => ({
    index,
    stageId: "stage",
    role,
    text,
    medium: "voice",
    invocationId: id,
    toolName: id === null ? null : "book",
    errorDetails: null,
    callState: null,
    timespan: { startMs: 1, endMs: 2 },
    wallClockTimespan: { startMs: 1, endMs: 2 },
    metadata: {},
  });

  test("words of the user are answered", () => {
    const lost = asked("Yes, it is.").runUntil(isAtRest);
    const next = lost.state.history.nextIndex;
    const stored = { ...message(next, "user", "And the rooms?"), stageId: lost.state.stage.stageId };
    const call = lost.resumed(4_000, { recorded: [stored] });
    const { messages } = call.effectsOf("generateReply")[0]?.request ?? { messages: [] };
    expect(messages.at(-1)).toMatchObject({ role: "user" });
    expect(JSON.stringify(messages.at(-1))).toContain("And the rooms?");
    expect(call.state.history.nextIndex).toBe(next + 1);
  });

  test("an answer that was said to its end is not said again", () => {
    const lost = asked().runUntil(({ reply }) => reply?.segments[1]?.status === "played");
    const index = lost.state.reply?.messageIndex ?? -1;
    const stored = { ...message(index, "agent", STORY), stageId: lost.state.stage.stageId };
    const call = lost.resumed(4_000, { recorded: [stored] }).run(8_000);
    expect(texts(call)).toEqual(["agent: I am back. Are you still there?"]);
  });

  test("a call without a result gets one, and is not sent", () => {
    const lost = joinedCall({ stage: { tools: [testTool("book")] } })
      .run(320)
      .says("Book it", 640)
      .runUntil(isAtRest);
    const next = lost.state.history.nextIndex;
    const id = `call_${lost.state.plan.callId.replaceAll("-", "")}_7`;
    const stored = { ...message(next, "tool_call", "{}", id), stageId: lost.state.stage.stageId };
    const call = lost.resumed(4_000, { recorded: [stored] });
    expect(call.tools.invoked).toHaveLength(0);
    expect(call.state.history.entries.at(-1)).toMatchObject({ role: "tool_result", invocationId: id });
    expect(call.state.ids.invocation).toBe(8);
  });
});
