import { describe, expect, test } from "vitest";
import type { DigitsPlan } from "../../plan/plan.ts";
import { testPlan, type PlanChanges } from "../testing/plan.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";
import { DIGITS_MAX, DIGITS_WAIT_MS } from "./digits.ts";
import { TYPED_TEXTS_MAX } from "./typed-text.ts";

const TALE = "It was a dark and stormy night. The rain fell in torrents. Nobody was out.";
const USUAL: DigitsPlan = { kind: "text", text: "{digits}", urgency: "immediate" };

function phoneCall(digits: DigitsPlan = USUAL, changes: PlanChanges = {}): Scenario {
  return joinedCall({ ...changes, medium: { ...testPlan().medium, kind: "telephony1", digits } });
}

const telling = (digits?: DigitsPlan) =>
  phoneCall(digits, {
    firstSpeaker: { kind: "agent", delayMs: 0, text: TALE, prompt: null, uninterruptible: false },
  }).run(1_500);

function press(call: Scenario, keys: string): Scenario {
  for (const key of keys) call.post({ type: "digitReceived", key });
  return call;
}

const said = (call: Scenario) => call.messages.filter(({ role }) => role === "user").map(({ text }) => text);

describe("keys of the user", () => {
  test("are an event each, also where they are ignored", () => {
    for (const digits of [USUAL, { kind: "ignored" } as const]) {
      const events = press(phoneCall(digits).run(100), "4*").eventsOf("dtmf.received");
      expect(events).toMatchObject([
        { severity: "info", extras: { digit: "4" } },
        { severity: "info", extras: { digit: "*" } },
      ]);
    }
  });

  test("are one message when no further one comes for a second", () => {
    const call = press(phoneCall().run(500), "4");
    press(call.run(DIGITS_WAIT_MS - 10), "2");
    expect(said(call.run(DIGITS_WAIT_MS - 10))).toEqual([]);
    expect(said(call.run(20))).toEqual(["42"]);
    expect(call.messages[0]).toMatchObject({ role: "user", medium: "text" });
    call.run(7_000);
    expect(call.transcript.at(-1)).toMatch(/agent: .*You said 42/);
    expect(call.state.timers.digits).toBeUndefined();
  });

  test("are a message at once with the key #, and with the thirty-second one", () => {
    expect(said(press(phoneCall().run(500), "123#"))).toEqual(["123#"]);
    const call = press(phoneCall().run(500), "7".repeat(DIGITS_MAX + 1));
    expect(said(call)).toEqual(["7".repeat(DIGITS_MAX)]);
    expect(said(call.run(9_000))).toEqual(["7".repeat(DIGITS_MAX), "7"]);
  });

  test("cut in on the agent, wait for it, or only join the history, as the plan says", () => {
    const cut = press(telling(), "1#").run(9_000);
    expect(cut.eventsOf("turn.interrupted")).toMatchObject([{ extras: { cause: "text" } }]);
    const soon = press(telling({ ...USUAL, urgency: "soon" }), "1#").run(16_000);
    expect(soon.effectsOf("clearPlayout")).toEqual([]);
    expect(soon.llm.requests).toHaveLength(1);
    const later = press(telling({ ...USUAL, urgency: "later" }), "1#").run(16_000);
    expect([said(later), later.llm.requests.length]).toEqual([["1#"], 0]);
  });

  test("stand in the text of the plan, which may do without them", () => {
    const text = "Keys: {digits}, again {digits}. Costs $& and $1.";
    expect(said(press(phoneCall({ ...USUAL, text }).run(100), "12#"))).toEqual([
      "Keys: 12#, again 12#. Costs $& and $1.",
    ]);
    expect(said(press(phoneCall({ ...USUAL, text: "Pressed." }).run(100), "5#"))).toEqual(["Pressed."]);
  });

  test("that are ignored are no message, but show that the user is there", () => {
    const message = { afterMs: 3_000, text: "Are you there?", endBehavior: "none" } as const;
    const changes = { stage: { inactivityMessages: [message] } };
    const call = press(phoneCall({ kind: "ignored" }, changes).run(2_900), "1").run(2_900);
    expect([said(call), call.transcript]).toEqual([[], []]);
    expect(call.run(4_000).transcript).toEqual(["agent: Are you there?"]);
  });

  test("during the last words are events and nothing more", () => {
    const call = phoneCall().run(100).sends({ type: "hang_up", message: "Goodbye and thank you." }).run(400);
    press(call, "1#").run(9_000);
    expect([said(call), call.eventsOf("dtmf.received").length, call.hasEnded]).toEqual([[], 2, true]);
  });

  test("that wait for the next one when the call ends are recorded", () => {
    const call = press(phoneCall().run(100), "42");
    call.post({ type: "transportHungUp" });
    expect([said(call), call.hasEnded, call.llm.requests.length]).toEqual([["42"], true, 0]);
    const parting = press(phoneCall().run(100), "42").sends({ type: "hang_up", message: "Bye." });
    expect(said(parting)).toEqual(["42"]);
  });

  test("beyond a thousand messages are dropped with a warning", () => {
    const call = phoneCall({ ...USUAL, urgency: "later" }).run(100);
    for (let i = 0; i <= TYPED_TEXTS_MAX; i += 1) press(call, "#").run(70);
    expect(said(call)).toHaveLength(TYPED_TEXTS_MAX);
    expect(call.eventsOf("data_message.limited")).toHaveLength(1);
  });

  test("of a medium without keys are events only", () => {
    const call = press(joinedCall().run(100), "1#").run(3_000);
    expect([said(call), call.eventsOf("dtmf.received").length]).toEqual([[], 2]);
  });
});
