import { describe, expect, test } from "vitest";
import { NOT_UNDERSTOOD_NOTE } from "../history/history.ts";
import { joinedCall } from "../testing/scenario.ts";
import { PREROLL_MS } from "./turn.ts";

const SPEAKING_PAIR = { userStartedSpeaking: true, userStoppedSpeaking: true };

describe("voice activity", () => {
  test("speech opens an utterance that begins before its detection", () => {
    const call = joinedCall({ dataMessages: SPEAKING_PAIR }).run(960).says("Good morning", 640).run(400);
    expect(call.effectsOf("openUtterance")).toEqual([
      { type: "openUtterance", utteranceId: 1, prerollMs: PREROLL_MS },
    ]);
    expect(call.messagesOf("user_started_speaking")).toEqual([
      { type: "user_started_speaking", callTimestamp: "0.96s" },
    ]);
    expect(call.messagesOf("user_stopped_speaking")).toEqual([
      { type: "user_stopped_speaking", callTimestamp: "1.6s" },
    ]);
  });

  test("a single window above the threshold is nothing, a short dropout is part of the speech", () => {
    const call = joinedCall({ dataMessages: SPEAKING_PAIR }).run(960).coughs(32).run(960);
    expect(call.effectsOf("openUtterance")).toHaveLength(0);
    call.says("one two three", 960).run(64).says("four five six", 960).run(320);
    expect(call.messagesOf("user_started_speaking")).toHaveLength(1);
    expect(call.messagesOf("user_stopped_speaking")).toHaveLength(1);
  });

  test("a score at the threshold is not speech", () => {
    const call = joinedCall({ stage: { vad: { frameActivationThreshold: 0.9 } } }).run(320);
    call.says("Nobody hears this", 900).run(1_000);
    expect(call.effectsOf("openUtterance")).toHaveLength(0);
  });
});

describe("end of turn", () => {
  test("the transcript is asked for early, and the turn ends at the endpoint delay", () => {
    const call = joinedCall().run(960).says("Good morning", 960).run(3_000);
    // Speech ends at 1920; the first window of silence is full at 1952, 384 ms at 2304.
    expect(call.timesOf("requestTranscript")).toEqual([1_952]);
    expect(call.timesOf("speak")).toEqual([2_304]);
    expect(call.effectsOf("abandonUtterance")).toHaveLength(1);
  });

  test("a late transcript ends the turn when it arrives", () => {
    const call = joinedCall().run(960);
    call.stt.delayMs = 700;
    call.says("Good morning", 960).run(3_000);
    expect(call.timesOf("speak")).toEqual([2_652]);
    expect(call.states).toEqual(["listening", "thinking", "speaking"]);
  });

  test("a user who continues before the end has one turn, and the next request covers the whole of it", () => {
    const call = joinedCall()
      .run(960)
      .says("I would like", 960)
      .run(288)
      .says("a quiet room", 960)
      .run(9_000);
    expect(call.transcript[0]).toBe("user: I would like a quiet room");
    expect(call.effectsOf("requestTranscript")).toEqual([
      { type: "requestTranscript", utteranceId: 1, revision: 1 },
      { type: "requestTranscript", utteranceId: 1, revision: 2 },
    ]);
    expect(call.messagesOf("transcript").filter(({ role }) => role === "user")).toHaveLength(1);
  });

  test("a transcript that comes after the user went on is not taken for the whole", () => {
    const call = joinedCall().run(960);
    call.stt.delayMs = 400;
    call.says("I would like", 960).run(320).says("a quiet room", 960).run(9_000);
    expect(call.transcript[0]).toBe("user: I would like a quiet room");
  });

  test("speech shorter than a turn makes none, whatever was understood", () => {
    const call = joinedCall({
      stage: { vad: { minimumTurnDurationMs: 600, minimumInterruptionDurationMs: 600 } },
    });
    call.run(960).says("Yes", 480).run(5_000);
    expect(call.effectsOf("requestTranscript")).toHaveLength(0);
    expect(call.llm.requests).toHaveLength(0);
    call.says("Yes I do", 800).run(5_000);
    expect(call.transcript[0]).toBe("user: Yes I do");
  });

  test("a cough that nobody understands is no turn", () => {
    const call = joinedCall().run(960).coughs(300).run(5_000);
    expect(call.effectsOf("abandonUtterance")).toHaveLength(1);
    expect(call.llm.requests).toHaveLength(0);
    expect(call.states).toEqual(["listening"]);
  });

  test("longer speech that was not understood is reported to the model, and not shown to clients", () => {
    const call = joinedCall().run(960);
    call.llm.script = [{ text: "Sorry, what was that?" }];
    call.coughs(1_200).run(6_000);
    expect(call.llm.requests[0]?.messages).toEqual([{ role: "user", text: NOT_UNDERSTOOD_NOTE }]);
    expect(call.messagesOf("transcript").filter(({ role }) => role === "user")).toEqual([]);
    expect(call.messages.map(({ role, index }) => `${index} ${role}`)).toEqual(["0 agent"]);
    expect(
      call.effectsOf("recordCallEvent").filter(({ event }) => event.type === "turn.not_understood"),
    ).toMatchObject([{ event: { severity: "info", extras: { startMediaMs: expect.any(Number) } } }]);
  });

  test("a turn that is too long is ended by force, and what follows is the next", () => {
    const call = joinedCall({ turnTaking: { maximumTurnMs: 3_000 } }).run(960);
    call.says("one two three four five six seven eight nine ten eleven twelve", 5_000).run(9_000);
    expect(call.effectsOf("openUtterance").length).toBeGreaterThan(1);
    expect(call.transcript.at(-1)).toMatch(/^agent: /);
    expect(
      call.messages
        .filter(({ role }) => role === "user")
        .map(({ text }) => text)
        .join(" "),
    ).toContain("twelve");
  });

  test("windows that stop coming do not leave a turn open", () => {
    const call = joinedCall({ turnTaking: { maximumTurnMs: 4_000 } })
      .run(960)
      .says("Good morning", 960);
    call.media = false;
    call.run(9_000);
    expect(call.transcript.at(-1)).toMatch(/^agent: You said Good morning/);
  });
});

describe("speculation", () => {
  test("the reply is begun in the silence and used when nothing changed", () => {
    const call = joinedCall().run(960).says("Good morning", 960).run(6_000);
    expect(call.llm.requests).toHaveLength(1);
    // The words are there at 2012, and the voice counts as speaking until 2016.
    expect(call.timesOf("generateReply")).toEqual([2_016]);
    expect(call.effectsOf("recordTurnLatency")[0]?.latency).toMatchObject({
      speculative: true,
      endOfTurnMs: 384,
    });
  });

  test("a user who continues drops it, and at most six are tried in a turn", () => {
    const call = joinedCall().run(960);
    for (let n = 0; n < 8; n += 1) call.says("and then", 640).run(320);
    call.run(12_000);
    expect(call.effectsOf("speak")).toHaveLength(1);
    expect(call.llm.requests).toHaveLength(7);
    expect(call.effectsOf("abortReply")).toHaveLength(6);
    expect(call.transcript).toHaveLength(2);
  });

  test("text that joins the history meanwhile makes it stale", () => {
    const call = joinedCall().run(960).says("Good morning", 960).run(300);
    call.sends({ type: "input_text_message", text: "My name is Eva.", deferResponse: true }).run(6_000);
    expect(call.llm.requests.map(({ messages }) => messages.map(({ text }) => text))).toEqual([
      ["Good morning"],
      ["My name is Eva.", "Good morning"],
    ]);
    expect(call.effectsOf("speak").map(({ replyId }) => replyId)).toEqual([2]);
  });

  test("the end of turn is not delayed by an answer that was begun early but failed", () => {
    const call = joinedCall().run(960);
    call.llm.script = [{ text: "", end: "fail", firstMs: 20 }];
    call.says("Good morning", 960).run(6_000);
    expect(call.transcript[1]).toMatch(/^agent: You said Good morning/);
    expect(call.eventsOf("llm.failed")).toHaveLength(1);
  });
});

test("latencies of a turn are recorded when its answer is first heard", () => {
  const call = joinedCall({ dataMessages: { callEvent: true } })
    .run(960)
    .says("Good morning", 960)
    .run(6_000);
  const { latency } = call.effectsOf("recordTurnLatency")[0] ?? {};
  expect(latency).toEqual({
    turnId: 1,
    endOfTurnMs: 384,
    transcriptFinalMs: 92,
    firstTokenMs: 216,
    firstSentenceMs: 256,
    firstAudioMs: 336,
    firstPlayedMs: 400,
    speculative: true,
  });
  expect(call.eventsOf("turn.completed")).toMatchObject([{ severity: "info", extras: latency }]);
  expect(call.messagesOf("call_event").map(({ event }) => event.type)).toEqual([
    "call.joined",
    "turn.completed",
  ]);
});
