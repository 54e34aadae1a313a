import { DATA_MESSAGE_FLAGS } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { CALL_EVENTS_PER_SECOND } from "../call-events.ts";
import { ANSWER_TICK_MS } from "../reply/reply.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";
import { TYPED_TEXTS_MAX } from "./typed-text.ts";

const user = (text: string, urgency: "immediate" | "soon" | "later" = "soon", deferResponse?: boolean) =>
  ({
    type: "user_text_message",
    text,
    urgency,
    threadId: "UI",
    ...(deferResponse === undefined ? {} : { deferResponse }),
  }) as const;
const TALE = "It was a dark and stormy night. The rain fell in torrents. Nobody was out.";
const telling = () =>
  joinedCall({
    firstSpeaker: { kind: "agent", delayMs: 0, text: TALE, prompt: null, uninterruptible: false },
  }).run(1_500);
const replies = (call: Scenario) => call.transcript.filter((line) => line.startsWith("agent"));

test("ping is answered with its own timestamp, where pong is on", () => {
  const call = joinedCall().sends({ type: "ping", timestamp: 17.5 });
  expect(call.messagesOf("pong")).toEqual([{ type: "pong", timestamp: 17.5 }]);
  const off = joinedCall({ dataMessages: { pong: false } }).sends({ type: "ping", timestamp: 1 });
  expect(off.messagesOf("pong")).toEqual([]);
});

describe("typed text", () => {
  test("is echoed as a final transcript of medium text, recorded and answered", () => {
    const call = joinedCall().run(500).sends(user("Any rooms?")).run(7_000);
    expect(call.messagesOf("transcript")[0]).toEqual({
      type: "transcript",
      role: "user",
      medium: "text",
      text: "Any rooms?",
      final: true,
      ordinal: 0,
    });
    expect(call.messages[0]).toMatchObject({ role: "user", medium: "text", text: "Any rooms?" });
    expect(replies(call)[0]).toMatch(/You said Any rooms/);
    expect(call.effectsOf("recordTurnLatency")).toEqual([]);
  });

  test("soon waits for the agent to finish", () => {
    const call = telling().sends(user("Any rooms?")).run(14_000);
    expect(call.effectsOf("clearPlayout")).toEqual([]);
    expect(replies(call)).toEqual([`agent: ${TALE}`, expect.stringMatching(/You said Any rooms/)]);
  });

  test("immediate cuts in", () => {
    const call = telling().sends(user("Any rooms?", "immediate")).run(9_000);
    expect(replies(call)[0]?.length).toBeLessThan(60);
    expect(replies(call)[1]).toMatch(/You said Any rooms/);
    expect(call.eventsOf("turn.interrupted")).toMatchObject([{ extras: { cause: "text" } }]);
    expect(call.messagesOf("playback_clear_buffer")).toHaveLength(1);
  });

  test("immediate does not cut what is uninterruptible", () => {
    const call = joinedCall({
      firstSpeaker: { kind: "agent", delayMs: 0, text: TALE, prompt: null, uninterruptible: true },
    });
    call.run(1_500).sends(user("Any rooms?", "immediate")).run(14_000);
    expect(replies(call)[0]).toBe(`agent: ${TALE}`);
    expect(replies(call)).toHaveLength(2);
  });

  test("later joins the history and waits for the next natural reply", () => {
    const call = joinedCall().run(500).sends(user("I am Eva.", "later")).run(5_000);
    expect(call.llm.requests).toHaveLength(0);
    call.says("Good morning", 640).run(7_000);
    expect(call.llm.requests[0]?.messages.map(({ text }) => text)).toEqual(["I am Eva.", "Good morning"]);
  });

  test("a given deferResponse decides alone", () => {
    const deferred = telling()
      .sends(user("Any rooms?", "immediate", true))
      .run(9_000);
    expect(deferred.llm.requests).toHaveLength(0);
    expect(deferred.effectsOf("clearPlayout")).toHaveLength(1);
    const textCall = joinedCall()
      .run(500)
      .sends(user("Any rooms?", "later", false))
      .run(7_000);
    expect(replies(textCall)).toHaveLength(1);
    const older = joinedCall().run(500);
    older.sends({ type: "input_text_message", text: "I am Eva.", deferResponse: true }).run(5_000);
    expect(older.llm.requests).toHaveLength(0);
    older.sends({ type: "input_text_message", text: "Any rooms?", deferResponse: false }).run(7_000);
    expect(replies(older)).toHaveLength(1);
  });

  test("empty text: immediate only interrupts, soon and deferResponse false only ask for a reply", () => {
    const cut = telling().sends(user("", "immediate")).run(9_000);
    expect(cut.effectsOf("clearPlayout")).toHaveLength(1);
    expect(cut.llm.requests).toHaveLength(0);
    expect(cut.messages.filter(({ role }) => role === "user")).toEqual([]);
    const textCall = joinedCall()
      .run(500)
      .sends(user("", "soon", false))
      .run(7_000);
    expect(textCall.llm.requests).toHaveLength(1);
    const asks = (message: Parameters<Scenario["sends"]>[0]) =>
      joinedCall().run(500).sends(message).run(7_000);
    const soon = asks(user("", "soon"));
    expect(soon.llm.requests).toHaveLength(1);
    expect(soon.messages.map(({ role }) => role)).toEqual(["agent"]);
    expect(telling().sends(user("")).run(14_000).effectsOf("clearPlayout")).toEqual([]);
    expect(asks({ type: "input_text_message", text: "", deferResponse: false }).llm.requests).toHaveLength(1);
    for (const none of [user("", "later"), user("", "soon", true)]) {
      expect(asks(none).llm.requests).toHaveLength(0);
    }
  });

  test("text and speech at once become one reply", () => {
    const call = joinedCall().run(320);
    call.says("Good", 320).sends(user("Any rooms?", "immediate")).says("morning", 320).run(8_000);
    expect(replies(call)).toHaveLength(1);
  });
});

describe("many typed texts", () => {
  test.each(["immediate", "soon"] as const)("that come within one tick, %s, start one reply", (urgency) => {
    const call = joinedCall().run(321);
    for (const word of ["One", "two", "three", "four", "five"]) call.sends(user(word, urgency)).run(3);
    expect(call.llm.requests).toHaveLength(0);
    call.run(ANSWER_TICK_MS);
    expect(call.llm.requests).toHaveLength(1);
    expect(call.llm.requests[0]?.messages.map(({ text }) => text)).toEqual([
      "One",
      "two",
      "three",
      "four",
      "five",
    ]);
    call.run(12_000);
    expect(call.llm.requests).toHaveLength(1);
    expect(replies(call)).toHaveLength(1);
  });

  test("start at most one reply in each tick, whatever their number", () => {
    const call = joinedCall().run(320);
    for (let n = 0; n < 100; n += 1) call.sends(user(`Word ${n}`, "immediate")).run(1);
    call.run(ANSWER_TICK_MS);
    expect(call.llm.requests.length).toBeGreaterThan(0);
    expect(call.llm.requests.length).toBeLessThanOrEqual(100 / ANSWER_TICK_MS + 1);
    call.run(12_000);
    expect(replies(call).at(-1)).toContain("You said");
    expect(call.messages.filter(({ role }) => role === "user")).toHaveLength(100);
  });

  test("beyond a thousand of the client are dropped with a warning; the data connection has its own, REST none", () => {
    const call = joinedCall().run(320);
    const from = (source: "client" | "dataConnection" | "api", text: string) => {
      call.post({ type: "dataMessageReceived", message: user(text, "later"), source });
    };
    for (let n = 0; n < TYPED_TEXTS_MAX; n += 1) from("client", "x");
    expect(call.eventsOf("data_message.limited")).toEqual([]);
    from("client", "One too many");
    call.sends({ type: "input_text_message", text: "The older form", deferResponse: true });
    from("dataConnection", "From the server");
    from("api", "By REST");
    expect(call.eventsOf("data_message.limited")).toMatchObject([
      { severity: "warning", text: expect.stringContaining("at most 1000 typed texts") },
    ]);
    expect(call.transcript.slice(TYPED_TEXTS_MAX)).toEqual(["user: From the server", "user: By REST"]);
    call.sends({ type: "ping", timestamp: 1 });
    expect(call.messagesOf("pong")).toHaveLength(1);
  });
});

test("immediate and empty text stops a reply that is still being thought of, without another one", () => {
  const call = joinedCall().run(320);
  call.llm.script = [{ text: "Too late.", firstMs: 2_000 }];
  call
    .sends(user("Tell me"))
    .run(500)
    .sends({ ...user(""), urgency: "immediate" })
    .run(8_000);
  expect(call.llm.requests).toHaveLength(1);
  expect(call.transcript).toEqual(["user: Tell me"]);
  expect(call.state.shown).toBe("listening");
  call.sends(user("And now")).run(6_000);
  expect(call.transcript.at(-1)).toContain("You said And now");
});

test("during the last words a ping is answered, and typed text does nothing", () => {
  const call = joinedCall()
    .run(320)
    .sends({ type: "hang_up", message: "I must go. Goodbye to you." })
    .run(600);
  call.sends({ type: "ping", timestamp: 2 }).sends(user("Wait", "immediate")).run(9_000);
  expect(call.messagesOf("pong")).toEqual([{ type: "pong", timestamp: 2 }]);
  expect(call.transcript).toEqual(["agent: I must go. Goodbye to you."]);
});

describe("messages that have no effect", () => {
  test("a thread that the call does not have is named in a warning, at most once a second", () => {
    const call = joinedCall().run(500);
    for (let n = 0; n < 5; n += 1) call.sends({ ...user("Hi"), threadId: "other" });
    expect(call.eventsOf("thread_comms.non_existent_thread")).toMatchObject([
      { severity: "warning", extras: { threadId: "other" } },
    ]);
    call.run(1_000).sends({ ...user("Hi"), threadId: "other" });
    expect(call.eventsOf("thread_comms.non_existent_thread")).toHaveLength(2);
    expect(call.transcript).toEqual([]);
  });

  test("bad messages are a warning per second and cause", () => {
    const call = joinedCall().run(500);
    for (let n = 0; n < 9; n += 1) {
      call.post({ type: "dataMessageRejected", cause: n % 2 === 0 ? "invalid" : "unknown", detail: "x" });
    }
    expect(call.eventsOf("data_message.invalid")).toHaveLength(1);
    expect(call.eventsOf("data_message.unknown")).toHaveLength(1);
    call.run(1_000).post({ type: "dataMessageRejected", cause: "invalid", detail: "x" });
    expect(call.eventsOf("data_message.invalid")).toHaveLength(2);
  });
});

describe("notices about media", () => {
  test("at most one of each kind in ten seconds", () => {
    const call = joinedCall();
    for (let n = 0; n < 30; n += 1) {
      call.run(500);
      call.post({ type: "mediaUnderflowed", missingMs: 200 });
      call.post({ type: "mediaOverflowed", droppedMs: 100 });
      call.post({ type: "transportProblemNoticed", problem: "odd_bytes" });
      call.post({ type: "engineWarned", engine: "stt", detail: "no Frisian here" });
    }
    for (const type of ["media.underflow", "media.overflow", "media.problem", "stt.warned"]) {
      expect(call.eventsOf(type)).toHaveLength(2);
    }
  });

  test("call events of one second are bounded", () => {
    const call = joinedCall({ turnTaking: { engineRetryDelayMs: 1 } }).run(320);
    call.stt.delayMs = 1;
    call.stt.script = Array.from({ length: 900 }, () => "fail");
    call.says("Good morning", 640).run(3_000);
    const times = call.eventsOf("stt.failed").map(({ wallClockTimestampMs }) => wallClockTimestampMs ?? 0);
    expect(times.length).toBeGreaterThan(CALL_EVENTS_PER_SECOND);
    // Seconds are counted from the first event of each, the join being the first of all.
    const second = times.filter((atMs) => atMs >= 1_000 && atMs < 2_000);
    expect(second).toHaveLength(CALL_EVENTS_PER_SECOND);
  });
});

test("debug messages come when the plan or the join asks for them, and never repeat what was said", () => {
  const plain = joinedCall().run(320).says("Good morning", 640).run(5_000);
  expect(plain.messagesOf("debug")).toEqual([]);
  const call = joinedCall({ dataMessages: { debug: true } })
    .run(320)
    .says("Good morning", 640)
    .run(5_000);
  expect(call.messagesOf("debug").length).toBeGreaterThan(0);
  expect(JSON.stringify(call.messagesOf("debug"))).not.toContain("Good morning");
});

test("every kind of message can be switched off", () => {
  const off = Object.fromEntries(DATA_MESSAGE_FLAGS.map((flag) => [flag, false]));
  const call = joinedCall({ dataMessages: off }).run(320).says("Good morning", 640).run(1_500);
  call.says("Stop it now please", 900).sends({ type: "ping", timestamp: 1 }).run(5_000);
  expect(call.effectsOf("sendDataMessage")).toEqual([]);
  expect(call.messages).toHaveLength(4);
});
