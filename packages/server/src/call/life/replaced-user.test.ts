import { describe, expect, test } from "vitest";
import { joinedCall, Scenario } from "../testing/scenario.ts";

const notesOf = (call: Scenario): readonly string[] =>
  call.llm.requests
    .at(-1)!
    .messages.flatMap(({ text }) => (text.startsWith("[The other side has transferred") ? [text] : []));

describe("R192 somebody else in place of the user", () => {
  test("is a note for the model, which greets them, and no message of the record", () => {
    const call = joinedCall();
    call.llm.script = [{ text: "Hello, who am I speaking with?" }];
    call.post({ type: "userReplaced" });
    call.run(8_000);
    expect(notesOf(call)).toHaveLength(1);
    expect(call.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      "agent: Hello, who am I speaking with?",
    ]);
  });

  test("is greeted after what the agent is saying", () => {
    const call = joinedCall();
    call.llm.script = [{ text: "It is a lovely hotel by the sea." }, { text: "Hello, this is the hotel." }];
    call.says("Tell me about it.", 960).runUntil(({ reply }) => reply?.begun === true);
    call.post({ type: "userReplaced" });
    call.run(12_000);
    expect(call.transcript).toEqual([
      "user: Tell me about it.",
      "agent: It is a lovely hotel by the sea.",
      "agent: Hello, this is the hotel.",
    ]);
    expect(notesOf(call)).toHaveLength(1);
  });

  test("is nothing before the join and during the last words", () => {
    const waiting = new Scenario({});
    waiting.post({ type: "userReplaced" });
    waiting.join().run(4_000);
    expect(waiting.llm.requests).toEqual([]);
    const parting = joinedCall();
    parting.post({ type: "voiceDetectionFailed", error: "worker died" });
    parting.post({ type: "userReplaced" });
    parting.run(8_000);
    expect(parting.llm.requests).toEqual([]);
    expect(parting.hasEnded).toBe(true);
  });
});
