import { describe, expect, test } from "vitest";
import { NOT_UNDERSTOOD_NOTE, UNKNOWN_WORDS_NOTE } from "../history/history.ts";
import type { PlanChanges } from "../testing/plan.ts";
import { joinedCall } from "../testing/scenario.ts";

const HEARS: PlanChanges = { stage: { takesAudio: true } };
const START_MS = 960;
const END_MS = START_MS + 960;

describe("a model that hears the user", () => {
  test("is asked before the words are known, and its reply is used when they are", () => {
    const call = joinedCall(HEARS).run(START_MS);
    call.stt.delayMs = 700;
    call.llm.usual = () => ({ text: "We open at nine." });
    call.says("When do you open?", 960).run(6_000);
    expect(call.llm.requests.map(({ messages }) => messages)).toEqual([
      [{ role: "user", text: UNKNOWN_WORDS_NOTE, utteranceIds: [1] }],
    ]);
    const [askedMs = NaN] = call.timesOf("generateReply");
    const [knownMs = NaN] = call.timesOf("speak");
    expect(askedMs - END_MS).toBeLessThan(200);
    expect(knownMs - END_MS).toBeGreaterThanOrEqual(700);
    expect(call.transcript).toEqual(["user: When do you open?", "agent: We open at nine."]);
    expect(call.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      "user: When do you open?",
      "agent: We open at nine.",
    ]);
  });

  test("is asked again when the user goes on, with the whole utterance", () => {
    const call = joinedCall(HEARS).run(START_MS);
    call.stt.delayMs = 700;
    call.llm.usual = () => ({ text: "A table for two." });
    call.says("I want to book", 960).run(288).says("a table for two", 960).run(6_000);
    expect(call.llm.requests.length).toBeGreaterThanOrEqual(2);
    for (const { messages } of call.llm.requests)
      expect(messages).toEqual([{ role: "user", text: UNKNOWN_WORDS_NOTE, utteranceIds: [1] }]);
    expect(call.effectsOf("abortReply").length).toBeGreaterThanOrEqual(1);
    expect(call.transcript).toEqual(["user: I want to book a table for two", "agent: A table for two."]);
  });

  test("answers what the recogniser has not understood", () => {
    const call = joinedCall(HEARS).run(START_MS);
    call.llm.usual = () => ({ text: "That is a lovely tune." });
    call.coughs(1_200).run(6_000);
    expect(call.transcript).toEqual(["agent: That is a lovely tune."]);
    expect(call.llm.requests).toHaveLength(1);
    call.says("Thank you", 960).run(6_000);
    expect(call.llm.requests.at(-1)?.messages).toEqual([
      { role: "user", text: NOT_UNDERSTOOD_NOTE, utteranceIds: [1] },
      { role: "agent", text: "That is a lovely tune." },
      { role: "user", text: expect.any(String), utteranceIds: [2] },
    ]);
  });

  test("keeps its reply when the recogniser then understands nothing", () => {
    const call = joinedCall(HEARS).run(START_MS);
    call.stt.delayMs = 700;
    call.llm.usual = () => ({ text: "That is a lovely tune." });
    call.coughs(1_200).run(6_000);
    expect(call.transcript).toEqual(["agent: That is a lovely tune."]);
    expect(call.llm.requests.map(({ messages }) => messages)).toEqual([
      [{ role: "user", text: UNKNOWN_WORDS_NOTE, utteranceIds: [1] }],
    ]);
    expect(call.effectsOf("abortReply")).toEqual([]);
  });

  test("hears all utterances of one message", () => {
    const call = joinedCall(HEARS).run(START_MS);
    call.llm.usual = () => ({ text: "A table for two.", firstMs: 900 });
    call.says("I want to book", 960).run(600).says("a table for two", 960).run(9_000);
    expect(call.llm.requests.at(-1)?.messages).toEqual([
      { role: "user", text: "I want to book a table for two", utteranceIds: [1, 2] },
    ]);
    expect(call.messages[0]?.text).toBe("I want to book a table for two");
  });

  test("of a cough that is no turn says nothing", () => {
    const call = joinedCall(HEARS).run(START_MS).coughs(200).run(6_000);
    expect(call.transcript).toEqual([]);
    expect(call.effectsOf("speak")).toEqual([]);
  });
});

test("any other model waits for the words, and is given nothing else", () => {
  const call = joinedCall().run(START_MS);
  call.stt.delayMs = 700;
  call.says("When do you open?", 960).run(6_000);
  expect(call.llm.requests.map(({ messages }) => messages)).toEqual([
    [{ role: "user", text: "When do you open?" }],
  ]);
  expect((call.timesOf("generateReply")[0] ?? NaN) - END_MS).toBeGreaterThanOrEqual(700);
});
