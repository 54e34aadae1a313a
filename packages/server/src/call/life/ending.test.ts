import { describe, expect, test } from "vitest";
import type { CallEngineEventBody } from "../events.ts";
import { joinedCall, Scenario } from "../testing/scenario.ts";
import type { PlanChanges } from "../testing/plan.ts";

const TALE =
  "It was a dark and stormy night. The rain fell in torrents. Nobody was out on the road to the sea.";
const telling: PlanChanges = {
  firstSpeaker: { kind: "agent", delayMs: 0, text: TALE, prompt: null, uninterruptible: false },
};
const ends = (call: Scenario) =>
  call.effectsOf("endCall").map(({ reason, closeCode }) => [reason, closeCode]);

describe("joining", () => {
  test("a call that nobody joins ends as unjoined, counted from its creation", () => {
    const call = new Scenario().run(40_000);
    expect(ends(call)).toEqual([["unjoined", 1000]]);
    expect(call.timesOf("endCall")).toEqual([30_000]);
    expect(call.effectsOf("recordJoined")).toEqual([]);
  });

  test("the join is recorded and announced in order", () => {
    const call = new Scenario({ dataMessages: { callEvent: true } }).run(5_000).join();
    expect(call.effectsOf("sendDataMessage").map(({ message }) => message.type)).toEqual([
      "call_started",
      "state",
      "call_event",
    ]);
    expect(call.effectsOf("recordJoined")).toHaveLength(1);
    expect(call.eventsOf("call.joined")).toMatchObject([{ callTimestampMs: 0, wallClockTimestampMs: 0 }]);
    call.run(60_000);
    expect(call.hasEnded).toBe(false);
  });

  test("what the settings of the first stage warn of is recorded", () => {
    const text = "there is no voice Jessica here";
    const call = joinedCall({ stage: { warnings: [{ type: "voice.replaced", text }] } });
    expect(call.eventsOf("voice.replaced")).toMatchObject([{ severity: "warning", text }]);
  });

  test("initial messages are messages of the stage, and the model sees them with their tool calls", () => {
    const message = { medium: "text", invocationId: null, toolName: null } as const;
    const call = joinedCall({
      initialMessages: [
        { ...message, role: "user", text: "Is there a room?" },
        { ...message, role: "tool_call", text: '{"beds":2}', invocationId: "i1", toolName: "rooms" },
        { ...message, role: "tool_result", text: "two", invocationId: "i1", toolName: "rooms" },
        { ...message, role: "tool_call", text: "{}", invocationId: "i2", toolName: "lost" },
        { ...message, role: "agent", text: "Yes, two." },
      ],
    });
    call.run(320).says("Good", 640).run(6_000);
    expect(call.llm.requests[0]?.messages).toEqual([
      { role: "user", text: "Is there a room?" },
      { role: "agent", text: "", toolCalls: [{ id: "i1", name: "rooms", arguments: { beds: 2 } }] },
      { role: "tool", invocationId: "i1", toolName: "rooms", text: "two" },
      { role: "agent", text: "Yes, two." },
      { role: "user", text: "Good" },
    ]);
    expect(call.messages.map(({ index, timespan }) => [index, timespan === null])).toEqual([
      [0, true],
      [1, true],
      [2, true],
      [3, true],
      [4, true],
      [5, false],
      [6, false],
    ]);
  });
});

const CAUSES: readonly [CallEngineEventBody, string, number][] = [
  [{ type: "transportHungUp" }, "hangup", 1000],
  [{ type: "endRequested", cause: "hangup" }, "hangup", 1000],
  [{ type: "endRequested", cause: "shutdown" }, "system_error", 1011],
  [{ type: "faulted", error: "boom" }, "system_error", 1011],
  [{ type: "mediaIdled" }, "connection_error", 4408],
];
/** Phases of a call, each with how a test enters it. */
const PHASES: Readonly<Record<string, (call: Scenario) => void>> = {
  listening: (call) => call.run(500),
  "user speaking": (call) => call.run(320).says("Good morning", 500),
  "awaiting the transcript": (call) => {
    call.stt.delayMs = 900;
    call.run(320).says("Good morning", 640).run(500);
  },
  speculating: (call) => call.run(320).says("Good morning", 640).run(300),
  thinking: (call) => {
    call.llm.usual = () => ({ text: "Yes.", firstMs: 3_000 });
    call.run(320).says("Good morning", 640).run(900);
  },
  speaking: (call) => call.run(320).says("Good morning", 640).run(1_500),
  paused: (call) => call.run(320).says("Good morning", 640).run(1_500).coughs(250),
  cut: (call) => {
    call.voice.answers = false;
    call.run(320).says("Good morning", 640).run(1_500).says("No no no", 640);
  },
  "retrying the model": (call) => {
    call.llm.usual = () => ({ text: "", end: "fail", firstMs: 20 });
    call.run(320).says("Good morning", 640).run(600);
  },
  "last words": (call) => {
    call.run(320).says("Good morning", 640).run(1_500).sends({ type: "hang_up", message: "Goodbye then." });
    call.run(400);
  },
  "connection lost": (call) => {
    call.run(320).says("Good morning", 640).run(1_500);
    call.post({ type: "transportLost" });
  },
};

describe.each(Object.entries(PHASES))("while %s", (_, enter) => {
  test.each(CAUSES)("%j: exactly one end, at once, with nothing left", (cause, reason, closeCode) => {
    const call = joinedCall();
    enter(call);
    call.post(cause);
    expect(ends(call)).toEqual([[reason, closeCode]]);
    const count = call.effects.length;
    call.run(40_000);
    call.post({ type: "faulted", error: "again" });
    expect(call.effects).toHaveLength(count);
    expect(call.state.timers).toEqual({});
    expect(call.eventsOf("call.ended")).toHaveLength(1);
  });
});

describe("before the join", () => {
  test.each(CAUSES.filter(([{ type }]) => type !== "mediaIdled"))("%j ends the call", (cause, reason) => {
    const call = new Scenario().run(1_000);
    call.post(cause);
    expect(ends(call).map(([first]) => first)).toEqual([reason]);
  });

  test("a call that nobody can be notified of is unjoined, and one that somebody has joined continues", () => {
    const call = new Scenario().run(1_000);
    call.post({ type: "endRequested", cause: "unjoined" });
    expect(ends(call)).toEqual([["unjoined", 1000]]);
    const joined = joinedCall();
    joined.post({ type: "endRequested", cause: "unjoined" });
    expect(ends(joined)).toEqual([]);
  });
});

describe("the time limit", () => {
  const limited: PlanChanges = { ...telling, maxDurationMs: 3_000 };

  test("cuts what is being said and speaks the message to the end", () => {
    const call = joinedCall({ ...limited, stage: { timeExceededMessage: "Our time is up. Goodbye." } }).run(
      12_000,
    );
    expect(call.transcript).toHaveLength(2);
    expect(TALE.startsWith(call.transcript[0]?.slice(7) ?? "-")).toBe(true);
    expect(call.transcript[1]).toBe("agent: Our time is up. Goodbye.");
    expect(call.messages[0]?.metadata).toEqual({ interrupted: "true" });
    expect(ends(call)).toEqual([["timeout", 1000]]);
  });

  test("speech during the message changes nothing", () => {
    const call = joinedCall({ ...limited, stage: { timeExceededMessage: "Our time is up. Goodbye." } }).run(
      3_200,
    );
    call.says("But I still have a question", 2_000).run(9_000);
    expect(call.effectsOf("pausePlayout")).toHaveLength(0);
    expect(ends(call)).toEqual([["timeout", 1000]]);
    expect(call.transcript[1]).toBe("agent: Our time is up. Goodbye.");
  });

  test("without a message it ends at once", () => {
    const call = joinedCall(limited).run(12_000);
    expect(call.timesOf("endCall")).toEqual([3_000]);
    expect(ends(call)).toEqual([["timeout", 1000]]);
  });

  test("last words that do not come to an end are ended", () => {
    const call = joinedCall({
      ...limited,
      stage: { timeExceededMessage: "Bye. ".repeat(200) },
      turnTaking: { partingLimitMs: 5_000 },
    }).run(20_000);
    expect(call.timesOf("endCall")).toEqual([8_000]);
  });

  test("words that are known already are kept though nobody answers them", () => {
    const call = joinedCall({ maxDurationMs: 1_280 }).run(320).says("Good morning", 640).run(2_000);
    expect(call.transcript).toEqual(["user: Good morning"]);
    expect(ends(call)).toEqual([["timeout", 1000]]);
  });
});

describe("hang_up", () => {
  test("says the message to the end, uninterruptibly, then agent_hangup", () => {
    const call = joinedCall(telling)
      .run(1_500)
      .sends({ type: "hang_up", message: "I must go. Goodbye to you." });
    call.run(600).says("No wait", 640).sends({ type: "hang_up", message: "Again" }).run(9_000);
    expect(call.transcript[1]).toBe("agent: I must go. Goodbye to you.");
    expect(ends(call)).toEqual([["agent_hangup", 1000]]);
    expect(call.effectsOf("pausePlayout")).toHaveLength(0);
  });

  /** A minute and a half, at the fakes' 55 ms a character. */
  const LONG = "And one more thing that I would like you to know. ".repeat(33).trim();

  test("says also a message of 80 s and more to its end", () => {
    const call = joinedCall().run(500).sends({ type: "hang_up", message: LONG }).run(120_000);
    expect(call.transcript).toEqual([`agent: ${LONG}`]);
    expect(call.messages.at(-1)).toMatchObject({ text: LONG, metadata: {} });
    expect(call.timesOf("endCall")[0]).toBeGreaterThan(80_000);
    expect(ends(call)).toEqual([["agent_hangup", 1000]]);
  });

  test("a message beyond its own limit is cut there, not at that of the time limit's message", () => {
    const turnTaking = { partingLimitMs: 5_000, farewellLimitMs: 40_000 };
    const call = joinedCall({ turnTaking }).run(500).sends({ type: "hang_up", message: LONG }).run(120_000);
    expect(call.timesOf("endCall")).toEqual([40_500]);
    expect(ends(call)).toEqual([["agent_hangup", 1000]]);
  });

  test.each(["hang", "stall"] as const)(
    "a voice that does %s in a long message ends the call soon",
    (how) => {
      const call = joinedCall().run(500);
      call.voice.script = ["ok", "ok"];
      call.voice.usual = how;
      call.sends({ type: "hang_up", message: LONG }).run(60_000);
      expect(call.timesOf("endCall")[0]).toBeLessThan(40_000);
      expect(ends(call)).toEqual([["agent_hangup", 1000]]);
    },
  );

  test("without a message ends at once; with one that cannot be spoken too", () => {
    for (const message of ["", " … "]) {
      const call = joinedCall().run(500).sends({ type: "hang_up", message });
      expect(ends(call)).toEqual([["agent_hangup", 1000]]);
    }
  });

  test("a voice that fails does not keep the call", () => {
    const call = joinedCall().run(500);
    call.voice.usual = "fail";
    call.sends({ type: "hang_up", message: "Goodbye." }).run(9_000);
    expect(ends(call)).toEqual([["agent_hangup", 1000]]);
    expect(call.transcript).toEqual(["agent: Goodbye."]);
  });
});

describe("a lost connection", () => {
  test("that does not come back ends with connection_error after the grace", () => {
    const call = joinedCall(telling).run(1_500);
    call.post({ type: "transportLost" });
    call.run(20_000);
    expect(ends(call)).toEqual([["connection_error", 1000]]);
    expect(call.timesOf("endCall")).toEqual([11_500]);
  });

  test("may have a grace of its own", () => {
    const call = joinedCall(telling).run(1_500);
    call.post({ type: "transportLost", graceMs: 3_000 });
    call.run(2_000).post({ type: "transportRestored" });
    call.post({ type: "transportLost" });
    call.run(20_000);
    expect(call.timesOf("endCall")).toEqual([13_500]);
    const other = joinedCall(telling).run(1_500);
    other.post({ type: "transportLost", graceMs: 3_000 });
    other.run(20_000);
    expect(other.timesOf("endCall")).toEqual([4_500]);
  });

  test("that comes back continues: state again, an event, and the reply from where it was heard", () => {
    const call = joinedCall(telling).run(1_500);
    call.post({ type: "transportLost" });
    call.run(4_000);
    const before = call.states.length;
    call.post({ type: "transportRestored" });
    expect(call.states.length).toBeGreaterThan(before);
    call.run(12_000);
    expect(call.transcript).toEqual([`agent: ${TALE}`]);
    expect(call.eventsOf("media.reconnected")).toHaveLength(1);
    call.post({ type: "transportLost" });
    call.run(9_000);
    call.post({ type: "transportRestored" });
    call.run(9_000);
    expect(call.hasEnded).toBe(false);
  });

  test("in silence, too, the state is sent again", () => {
    const call = joinedCall().run(500);
    call.post({ type: "transportLost" });
    call.run(500).post({ type: "transportRestored" });
    expect(call.states).toEqual(["listening", "listening"]);
    call.post({ type: "transportRestored" });
    expect(call.states).toHaveLength(2);
  });

  test("while a reply is being made, it waits for the connection", () => {
    const call = joinedCall().run(320).says("Good morning", 640).run(500);
    call.post({ type: "transportLost" });
    call.run(5_000);
    call.post({ type: "transportRestored" });
    call.run(7_000);
    expect(call.transcript[1]).toMatch(/^agent: You said Good morning/);
  });
});
