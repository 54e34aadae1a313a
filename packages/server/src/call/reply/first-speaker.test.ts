import { describe, expect, test } from "vitest";
import { GREETING_INSTRUCTION } from "./first-speaker.ts";
import { joinedCall, Scenario } from "../testing/scenario.ts";
import { CARRY_ON_INSTRUCTION } from "./reply.ts";
import type { FirstSpeakerPlan } from "../../plan/plan.ts";

const agent = (changes: Partial<Extract<FirstSpeakerPlan, { kind: "agent" }>> = {}) =>
  ({ kind: "agent", delayMs: 0, text: null, prompt: null, uninterruptible: false, ...changes }) as const;
const fallback = (changes: { text?: string; prompt?: string; delayMs?: number } = {}) =>
  ({ kind: "user", fallback: { delayMs: 5_000, text: null, prompt: null, ...changes } }) as const;

describe("agent first", () => {
  test("says its text exactly, after the delay", () => {
    const call = joinedCall({ firstSpeaker: agent({ text: "Welcome to Parley.", delayMs: 700 }) }).run(690);
    expect(call.voice.spoken).toHaveLength(0);
    call.run(3_000);
    expect(call.transcript).toEqual(["agent: Welcome to Parley."]);
    expect(call.llm.requests).toHaveLength(0);
    expect(call.states).toEqual(["listening", "thinking", "speaking", "listening"]);
  });

  test("without text, greets from a generation with an instruction that is not kept", () => {
    const call = new Scenario({ firstSpeaker: agent() });
    call.llm.script = [{ text: "Hello, this is Ada." }];
    call.join().run(4_000).says("Hi Ada", 600).run(3_000);
    expect(call.llm.requests[0]).toMatchObject({ instruction: GREETING_INSTRUCTION, messages: [] });
    expect(call.llm.requests[1]).toMatchObject({
      instruction: null,
      messages: [
        { role: "agent", text: "Hello, this is Ada." },
        { role: "user", text: "Hi Ada" },
      ],
    });
  });

  test("no instruction to greet where the history asks for an answer, or where it is switched off", () => {
    const message = { text: "", medium: "text", invocationId: null, toolName: null } as const;
    const textCall = joinedCall({
      firstSpeaker: agent(),
      initialMessages: [{ ...message, role: "user", text: "Are you there?" }],
    }).run(10);
    expect(textCall.llm.requests[0]).toMatchObject({
      instruction: null,
      messages: [{ text: "Are you there?" }],
    });
    const off = joinedCall({ firstSpeaker: agent(), greetingPrompt: false }).run(10);
    expect(off.llm.requests[0]?.instruction).toBeNull();
    const prompted = joinedCall({ firstSpeaker: agent({ prompt: "Greet in verse." }) }).run(10);
    expect(prompted.llm.requests[0]?.instruction).toBe("Greet in verse.");
  });

  test("an uninterruptible greeting is said to its end, and what the user said meanwhile is answered afterwards", () => {
    const text = "This call may be recorded for training. Please say what you need.";
    const call = joinedCall({ firstSpeaker: agent({ text, uninterruptible: true }) }).run(500);
    call.says("I need a room for two", 1_500).run(8_000);
    expect(call.effectsOf("pausePlayout")).toHaveLength(0);
    expect(call.effectsOf("clearPlayout")).toHaveLength(0);
    expect(call.transcript.slice(0, 2).toSorted()).toEqual([`agent: ${text}`, "user: I need a room for two"]);
    expect(call.transcript[2]).toBe(
      "agent: You said I need a room for two. That is understood. What else can I do for you?",
    );
  });

  test("a user who speaks during the delay is answered; a fixed text is said before the answer", () => {
    const generated = joinedCall({ firstSpeaker: agent({ delayMs: 3_000 }) }).run(200);
    generated.says("Hello", 500).run(9_000);
    expect(generated.llm.requests).toHaveLength(1);
    expect(generated.transcript[1]).toMatch(/^agent: You said Hello/);
    const fixed = joinedCall({ firstSpeaker: agent({ delayMs: 3_000, text: "Welcome." }) }).run(200);
    fixed.says("Hello", 500).run(9_000);
    expect(fixed.transcript.slice(0, 2)).toEqual(["user: Hello", "agent: Welcome."]);
    expect(fixed.llm.requests).toMatchObject([{ instruction: CARRY_ON_INSTRUCTION }]);
    expect(fixed.transcript[2]).toMatch(/^agent: /);
  });

  test("typed text that comes with the join is answered after a fixed text, by a request that names it", () => {
    const call = joinedCall({ firstSpeaker: agent({ text: "Welcome." }) });
    call.sends({ type: "user_text_message", text: "Go forward", urgency: "soon", threadId: "UI" });
    call.run(9_000);
    expect(call.states.slice(0, 2)).toEqual(["listening", "thinking"]);
    expect(call.transcript.slice(0, 2)).toEqual(["user: Go forward", "agent: Welcome."]);
    expect(call.llm.requests).toMatchObject([
      {
        instruction: CARRY_ON_INSTRUCTION,
        messages: [
          { role: "user", text: "Go forward" },
          { role: "agent", text: "Welcome." },
        ],
      },
    ]);
    expect(call.transcript[2]).toMatch(/^agent: /);
  });

  test("a cough during the delay does not cost the greeting", () => {
    const call = joinedCall({ firstSpeaker: agent({ text: "Welcome.", delayMs: 400 }) }).run(200);
    call.coughs(250).run(3_000);
    expect(call.transcript).toEqual(["agent: Welcome."]);
  });

  test("a text that cannot be spoken is over at once", () => {
    const call = joinedCall({ firstSpeaker: agent({ text: "…" }) })
      .run(500)
      .says("Hello", 500)
      .run(6_000);
    expect(call.transcript[0]).toBe("user: Hello");
    expect(call.transcript[1]).toMatch(/^agent: You said Hello/);
    expect(call.llm.requests).toHaveLength(1);
  });

  test("a greeting with nothing to say is replaced, in the language of the plan", () => {
    const call = new Scenario({ firstSpeaker: agent(), stage: { languageHint: "de-AT" } });
    call.llm.script = [{ text: " …\n" }];
    call.join().run(4_000);
    expect(call.transcript).toEqual(["agent: Hallo, wie kann ich Ihnen helfen?"]);
    expect(call.eventsOf("llm.failed")).toHaveLength(1);
  });
});

describe("user first", () => {
  test("the agent waits without a fallback", () => {
    const call = joinedCall().run(60_000);
    expect(call.voice.spoken).toHaveLength(0);
    expect(call.states).toEqual(["listening"]);
  });

  test("the fallback is said when the user has not begun in time", () => {
    const text = joinedCall({ firstSpeaker: fallback({ text: "Are you there?" }) }).run(8_000);
    expect(text.transcript).toEqual(["agent: Are you there?"]);
    expect(text.timesOf("speak")).toEqual([5_000]);
    const prompted = joinedCall({ firstSpeaker: fallback({ prompt: "Ask who is there." }) }).run(5_500);
    expect(prompted.llm.requests[0]?.instruction).toBe("Ask who is there.");
  });

  test("speech or typed text before it makes the fallback unnecessary", () => {
    const spoken = joinedCall({ firstSpeaker: fallback({ text: "Are you there?" }) }).run(4_000);
    spoken.says("Good morning to you", 2_000).run(12_000);
    expect(spoken.transcript).toHaveLength(2);
    const typed = joinedCall({ firstSpeaker: fallback({ text: "Are you there?" }) }).run(1_000);
    typed.sends({ type: "input_text_message", text: "I am writing", deferResponse: true }).run(12_000);
    expect(typed.transcript).toEqual(["user: I am writing"]);
  });

  test("a knock at the wrong moment only delays the fallback", () => {
    const call = joinedCall({ firstSpeaker: fallback({ text: "Are you there?" }) }).run(4_900);
    call.coughs(300).run(4_000);
    expect(call.transcript).toEqual(["agent: Are you there?"]);
  });
});
