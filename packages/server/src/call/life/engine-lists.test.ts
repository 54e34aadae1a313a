/** What a call does when its engines are lists: steps within a list, and lists whose engines have all failed. */

import { describe, expect, test } from "vitest";
import { CARRY_ON_INSTRUCTION } from "../reply/reply.ts";
import { cutSegments } from "../reply/segment.ts";
import { sentencesFor } from "../sentences.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";

const { apology, moment } = sentencesFor(null);
const SPARE = [moment, ...cutSegments(apology, { first: true, last: true }).segments.map(({ text }) => text)];

function askedCall(prepare: (call: Scenario) => void): Scenario {
  const call = joinedCall().run(320);
  prepare(call);
  return call.says("Good morning", 640);
}

function withSpareSpeech(call: Scenario): void {
  call.voice.spare = SPARE;
  call.post({ type: "spareSpeechPrepared", language: null });
}

const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl"];

test.each(LANGUAGES)("the sentence of patience in %s is one segment", (language) => {
  const text = sentencesFor(language).moment;
  expect(cutSegments(text, { first: true, last: true }).segments).toEqual([{ lead: "", text }]);
});

test("a step within a list is an event of the call, and no failure", () => {
  const call = joinedCall().run(320);
  call.post({ type: "engineReplaced", engine: "llm", from: "one", to: "two", error: "HTTP 503" });
  call.post({ type: "engineReplaced", engine: "llm", from: "two", to: "one", error: null });
  expect(call.eventsOf("llm.replaced")).toMatchObject([
    {
      severity: "warning",
      text: "the language model: two takes over from one: HTTP 503",
      extras: { from: "one", to: "two" },
    },
    { severity: "info", text: "the language model: one is used again in place of two" },
  ]);
  expect(call.eventsOf("llm.failed")).toEqual([]);
});

test("no model of the list answers: the agent asks for patience, once, and answers when one works", () => {
  const call = askedCall(({ llm }) => {
    llm.script = Array.from({ length: 3 }, () => ({ text: "", end: "exhaust" }) as const);
  }).run(12_000);
  expect(call.transcript).toEqual([
    "user: Good morning",
    `agent: ${moment}`,
    expect.stringMatching(/^agent: You said/),
  ]);
  expect(call.llm.requests.at(-1)?.instruction).toBe(CARRY_ON_INSTRUCTION);
});

test("no model of the list answers in text: nothing is written in place of the answer", () => {
  const call = joinedCall().run(320);
  call.sends({ type: "set_output_medium", medium: "text" });
  call.llm.script = [{ text: "", end: "exhaust" }];
  call.sends({ type: "input_text_message", text: "Good morning", deferResponse: false }).run(8_000);
  expect(call.transcript.filter((line) => line.includes(moment))).toEqual([]);
});

test("no voice of the list speaks: the agent asks for patience with what was rendered before, once", () => {
  const call = askedCall((asked) => {
    withSpareSpeech(asked);
    asked.voice.script = ["exhaust", "exhaust", "exhaust", "exhaust", "exhaust"];
  }).run(20_000);
  const texts = call.voice.spoken.filter(({ silent }) => !silent).map(({ text }) => text);
  expect(texts.filter((text) => text === moment)).toHaveLength(1);
  expect(call.eventsOf("tts.failed").length).toBeGreaterThan(0);
  // The words are shown all the same.
  expect(call.transcript[1]).toMatch(/^agent: You said Good morning/);
  // What was rendered before is no sign of a voice that works.
  const outage = call.eventsOf("tts.failed").map(({ extras }) => extras?.["failures"]);
  expect(outage).toEqual(outage.map((_, index) => index + 1));
});

test("no voice of the list speaks, and nothing was rendered before: it is tried again", () => {
  const call = askedCall(({ voice }) => {
    voice.script = ["exhaust", "exhaust"];
  }).run(12_000);
  const [first] = call.voice.spoken;
  const attempts = call.voice.spoken.filter(({ segmentId }) => segmentId === first?.segmentId);
  expect(attempts.map(({ silent }) => silent)).toEqual([false, false]);
  expect(call.voice.spoken.map(({ text }) => text)).not.toContain(moment);
});

test("a voice that refuses for good apologises with what was rendered before, and the call ends", () => {
  const call = askedCall((asked) => {
    withSpareSpeech(asked);
    asked.voice.usual = "refuse";
  }).run(12_000);
  expect(call.transcript.at(-1)).toBe(`agent: ${apology}`);
  expect(call.effectsOf("endCall")).toMatchObject([{ reason: "system_error", closeCode: 1011 }]);
});

test("an apology in another language than what was rendered needs the voice", () => {
  const call = askedCall((asked) => {
    asked.voice.spare = SPARE;
    asked.post({ type: "spareSpeechPrepared", language: "de" });
    asked.voice.usual = "refuse";
  }).run(12_000);
  expect(call.transcript.join()).not.toContain(apology);
  expect(call.effectsOf("endCall")).toMatchObject([{ reason: "system_error" }]);
});

describe("no recogniser answers", () => {
  const unheard = (
    how: "exhaust" | "hang",
    times: number,
    prepare: (call: Scenario) => void = () => undefined,
  ) =>
    askedCall((asked) => {
      asked.stt.script = Array.from({ length: times }, () => how);
      prepare(asked);
    });

  test.each([
    ["exhaust", 3],
    ["hang", 2],
  ] as const)("(%s): the agent asks for patience, once, and answers when one works", (how, times) => {
    const call = unheard(how, times).run(30_000);
    expect(call.transcript).toEqual([
      `agent: ${moment}`,
      "user: Good morning",
      expect.stringMatching(/^agent: You said Good morning/),
    ]);
    expect(call.eventsOf("stt.failed")).toHaveLength(times);
    expect(call.eventsOf("turn.not_understood")).toEqual([]);
  });

  test("until the limit: patience, then an apology and the end", () => {
    const call = unheard("exhaust", 99).run(60_000);
    expect(call.transcript).toEqual([`agent: ${moment}`, `agent: ${apology}`]);
    expect(call.effectsOf("endCall")).toMatchObject([{ reason: "system_error", closeCode: 1011 }]);
  });

  test("within a second of the end of the turn the sentence is heard", () => {
    const call = unheard("exhaust", 3).runUntil(({ reply }) => reply?.begun === true);
    const [failedMs = 0] = call.timesOf("requestTranscript");
    expect(call.atMs - failedMs).toBeLessThan(1_000);
  });

  test("while the user goes on: nothing is said before the end of the turn", () => {
    const call = joinedCall().run(320);
    call.stt.script = ["exhaust", "exhaust"];
    call.says("I would like", 640).run(200).says("a room for two", 960);
    expect(call.effectsOf("synthesize")).toEqual([]);
    call.run(12_000);
    expect(call.transcript.filter((line) => line.includes(moment))).toHaveLength(1);
    expect(call.transcript).toContain("user: I would like a room for two");
  });

  test("and the user interrupts the sentence: it is not said again, and all words are answered", () => {
    const call = unheard("exhaust", 2).runUntil(({ reply }) => reply?.begun === true);
    call.run(300).says("Hello, are you there", 1_200).run(20_000);
    expect(call.effectsOf("synthesize").filter(({ text }) => text === moment)).toHaveLength(1);
    expect(call.transcript.at(-1)).toMatch(/^agent: You said Good morning Hello, are you there/);
  });

  test("while the agent is speaking: it goes on, and says nothing else", () => {
    const call = askedCall((asked) => {
      asked.llm.usual = () => ({
        text: "It is a lovely hotel by the sea. All of its rooms have balconies. Breakfast is from seven to eleven.",
      });
    }).runUntil(({ reply }) => reply?.begun === true);
    call.run(900);
    call.stt.script = ["exhaust", "exhaust"];
    call.coughs(200).run(15_000);
    expect(call.transcript.join()).not.toContain(moment);
    expect(call.transcript.at(-1)).toMatch(/from seven to eleven\.$/);
  });

  test("in text: nothing is written", () => {
    const call = joinedCall().run(320);
    call.sends({ type: "set_output_medium", medium: "text" });
    call.stt.script = ["exhaust"];
    call.says("Good morning", 640).run(8_000);
    expect(call.transcript.join()).not.toContain(moment);
    expect(call.transcript).toContain("user: Good morning");
  });
});
