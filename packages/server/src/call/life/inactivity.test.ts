import { describe, expect, test } from "vitest";
import type { InactivityMessagePlan } from "../../plan/plan.ts";
import type { PlanChanges } from "../testing/plan.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";

const [FIRST, SECOND, LAST] = [
  "Are you still there?",
  "I can wait a little.",
  "I will hang up now. Goodbye.",
];

function messages(end: InactivityMessagePlan["endBehavior"]): InactivityMessagePlan[] {
  return [
    { afterMs: 5_000, text: FIRST, endBehavior: "none" },
    { afterMs: 4_000, text: SECOND, endBehavior: "none" },
    { afterMs: 3_000, text: LAST, endBehavior: end },
  ];
}

function quietCall(end: InactivityMessagePlan["endBehavior"] = "none", changes: PlanChanges = {}): Scenario {
  return joinedCall({ ...changes, stage: { inactivityMessages: messages(end) } });
}

const agentTexts = (call: Scenario) =>
  call.messages.flatMap(({ role, text }) => (role === "agent" ? [text] : []));
const reasons = (call: Scenario) => call.effectsOf("endCall").map(({ reason }) => reason);
/** Ends of the agent's messages, on the wall clock. */
const ends = (call: Scenario) => call.messages.map(({ wallClockTimespan }) => wallClockTimespan?.endMs ?? 0);
const speaks = (call: Scenario) => call.timesOf("speak");

describe("inactivity messages", () => {
  test("come in order, each its duration after the end of the one before, and are recorded", () => {
    const call = quietCall().run(60_000);
    expect(agentTexts(call)).toEqual([FIRST, SECOND, LAST]);
    const [firstEnd = 0, secondEnd = 0] = ends(call);
    expect(speaks(call)).toEqual([5_000, firstEnd + 4_000, secondEnd + 3_000]);
    expect(call.hasEnded).toBe(false);
    expect(call.messages[0]).toMatchObject({ role: "agent", medium: "voice", metadata: {} });
    expect(call.llm.requests).toHaveLength(0);
  });

  test("start over from the first after the user's words, counted from the end of the answer", () => {
    const call = quietCall().run(14_000);
    expect(agentTexts(call)).toEqual([FIRST, SECOND]);
    call.says("Yes, one moment please", 1_200).runUntil(({ reply }) => reply?.begun === true);
    call.runUntil(({ reply }) => reply === null);
    const endMs = call.atMs;
    call.run(8_000);
    expect(agentTexts(call).at(-1)).toBe(FIRST);
    expect(speaks(call).at(-1)).toBe(endMs + 5_000);
  });

  test("start over after typed text, even for the history alone", () => {
    const call = quietCall().run(4_000);
    call.sends({ type: "user_text_message", text: "Hold on", urgency: "later", threadId: "UI" }).run(4_900);
    expect(agentTexts(call)).toEqual([]);
    call.run(2_000);
    expect(speaks(call)).toEqual([9_000]);
  });

  test("a cough stops the count and does not set it back", () => {
    const call = quietCall().run(2_000).coughs(200).run(6_000);
    expect(agentTexts(call)).toEqual([FIRST]);
    const [at = 0] = speaks(call);
    expect(at).toBeGreaterThan(5_200);
    expect(at).toBeLessThan(6_500);
  });

  test("coughs again and again do not keep the messages away", () => {
    const call = quietCall("strict").run(1_000);
    for (let n = 0; n < 20; n += 1) call.coughs(150).run(2_000);
    expect(reasons(call)).toEqual(["agent_hangup"]);
  });

  test("a cough during a message neither cuts it nor starts over", () => {
    const call = quietCall().runUntil(({ reply }) => reply?.begun === true);
    call.run(200).coughs(200).run(12_000);
    expect(agentTexts(call).slice(0, 2)).toEqual([FIRST, SECOND]);
  });

  test("wait for the opening, and count from its end", () => {
    const call = quietCall("none", {
      firstSpeaker: { kind: "agent", delayMs: 4_500, text: "Welcome.", prompt: null, uninterruptible: false },
    }).run(15_000);
    expect(agentTexts(call)).toEqual(["Welcome.", FIRST]);
    expect(speaks(call)[1]).toBe((ends(call)[0] ?? 0) + 5_000);
  });

  test.each(["voice", "text"] as const)("count again from the end of a forced message in %s", (medium) => {
    const call = quietCall("none", { initialOutputMedium: medium }).run(4_000);
    call.sends({
      type: "forced_agent_message",
      content: "Please hold the line.",
      toolCalls: [],
      knownToolResults: [],
      uninterruptible: false,
      urgency: "soon",
      threadId: "UI",
    });
    call.runUntil(({ reply, history }) => reply === null && history.entries.length === 1);
    const endMs = call.atMs;
    call.runUntil(({ inactivity }) => inactivity.next === 1);
    expect(call.atMs).toBe(endMs + 5_000);
  });

  test("do not come while a slow answer is on its way", () => {
    const call = quietCall("none", { turnTaking: { replyTimeoutMs: 20_000 } });
    call.llm.script = [{ text: "Here it is.", firstMs: 9_000 }];
    call.run(320).says("Please look it up", 900).run(10_500);
    expect(agentTexts(call)).toEqual(["Here it is."]);
  });

  test("do not come while the transport is lost", () => {
    const call = quietCall().run(3_000);
    call.post({ type: "transportLost" });
    call.run(6_000).post({ type: "transportRestored" });
    call.run(1_900);
    expect(speaks(call)).toEqual([]);
    call.run(200);
    expect(speaks(call)).toEqual([11_000]);
  });

  test("soft: the call ends after the message", () => {
    const call = quietCall("soft").run(60_000);
    expect(agentTexts(call)).toEqual([FIRST, SECOND, LAST]);
    expect(reasons(call)).toEqual(["agent_hangup"]);
  });

  test("soft: a user who speaks during it is answered, and the messages start over", () => {
    const call = quietCall("soft").runUntil(({ inactivity }) => inactivity.next === 3);
    call.run(400).says("No wait, I am here", 1_000).run(6_000);
    expect(call.hasEnded).toBe(false);
    expect(call.messages.at(-1)?.text).toContain("You said No wait");
    expect(call.messages.find(({ metadata }) => metadata.interrupted === "true")).toBeDefined();
    call.run(60_000);
    expect(agentTexts(call).slice(-3)).toEqual([FIRST, SECOND, LAST]);
    expect(reasons(call)).toEqual(["agent_hangup"]);
  });

  test("strict: the message is said to its end whatever the user does, and the call ends", () => {
    const call = quietCall("strict").runUntil(({ phase }) => phase.kind === "parting");
    call.run(400).says("No wait, I am here", 1_000).run(20_000);
    expect(agentTexts(call)).toEqual([FIRST, SECOND, LAST]);
    expect(reasons(call)).toEqual(["agent_hangup"]);
  });

  test("a voice that is lost in the middle of a message brings no continuation by the model", () => {
    const call = quietCall();
    call.voice.script = ["stall"];
    call.run(30_000);
    expect(call.llm.requests).toHaveLength(0);
    expect(agentTexts(call)[1]).toBe(SECOND);
  });
});

test("words at every 20 ms before, in and after a message are answered, and the first message comes again", () => {
  for (let atMs = 4_000; atMs < 8_000; atMs += 20) {
    const call = quietCall().run(atMs).says("Yes I am here", 800).run(16_000);
    const answer = call.messages.findIndex(({ text }) => text.startsWith("You said Yes I am here"));
    expect(answer).toBeGreaterThan(0);
    expect(call.messages[answer + 1]?.text).toBe(FIRST);
  }
});

test("a cough at every 20 ms before, in and after a message changes no message", () => {
  for (let atMs = 4_000; atMs < 8_000; atMs += 20) {
    const call = quietCall().run(atMs).coughs(200).run(25_000);
    expect(agentTexts(call)).toEqual([FIRST, SECOND, LAST]);
  }
});
