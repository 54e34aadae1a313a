import { describe, expect, test } from "vitest";
import { endSoftly } from "./soft-end.ts";
import { testTool } from "../testing/fake-tools.ts";
import { deepFreeze } from "../testing/deep-freeze.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";

const FAREWELL = "Thank you for calling. Have a lovely day, and goodbye.";

/** As a tool or an inactivity message requests it; the next event continues it. */
function softly(call: Scenario, message: string | null): Scenario {
  const draft = { state: call.state, effects: [] };
  endSoftly(draft, message);
  call.state = deepFreeze(draft.state);
  return call;
}

function reasons(call: Scenario): string[] {
  return call.effectsOf("endCall").map(({ reason }) => reason);
}

describe("soft end", () => {
  test("says the message and ends the call", () => {
    const call = softly(joinedCall().run(320), FAREWELL).run(20_000);
    expect(call.transcript).toEqual([`agent: ${FAREWELL}`]);
    expect(reasons(call)).toEqual(["agent_hangup"]);
    expect(call.messages.at(-1)).toMatchObject({ role: "agent", text: FAREWELL, metadata: {} });
  });

  test("without a message ends the call when the agent has finished", () => {
    const call = joinedCall().run(320).says("Good morning", 640);
    call.runUntil(({ reply }) => reply?.begun === true);
    softly(call, null).run(200);
    expect(call.hasEnded).toBe(false);
    call.run(20_000);
    expect(reasons(call)).toEqual(["agent_hangup"]);
    expect(call.transcript[1]).toBe(
      "agent: You said Good morning. That is understood. What else can I do for you?",
    );
  });

  test("without a message ends a silent call at once", () => {
    expect(reasons(softly(joinedCall().run(320), null).run(40))).toEqual(["agent_hangup"]);
  });

  test("typed text calls it off, even words for the history alone", () => {
    for (const urgency of ["immediate", "soon", "later"] as const) {
      const call = softly(joinedCall().run(320), FAREWELL).runUntil(({ reply }) => reply?.begun === true);
      call.sends({ type: "user_text_message", text: "One more thing", urgency, threadId: "UI" }).run(30_000);
      expect(call.hasEnded).toBe(false);
      expect(call.messages.filter(({ role }) => role === "agent")).toHaveLength(urgency === "later" ? 1 : 2);
    }
  });

  test("a forced call during the message is answered before the call ends", () => {
    const call = joinedCall({ stage: { tools: [testTool("lookUp")] } }).run(320);
    softly(call, FAREWELL).runUntil(({ reply }) => reply?.begun === true);
    call.llm.script = [{ text: "It is done." }];
    call.tools.script = [{ how: "answer", afterMs: 1_000 }];
    const toolCalls = [{ name: "lookUp", arguments: {} }];
    call.sends({
      type: "forced_agent_message",
      content: "",
      toolCalls,
      knownToolResults: [],
      uninterruptible: false,
      urgency: "soon",
      threadId: "UI",
    });
    call.run(20_000);
    expect(call.transcript).toEqual([`agent: ${FAREWELL}`, "agent: It is done."]);
    expect(reasons(call)).toEqual(["agent_hangup"]);
  });

  test("a cough pauses the message and does not call it off", () => {
    const call = softly(joinedCall().run(320), FAREWELL).runUntil(({ reply }) => reply?.begun === true);
    call.run(400).coughs(200).run(20_000);
    expect(call.transcript).toEqual([`agent: ${FAREWELL}`]);
    expect(reasons(call)).toEqual(["agent_hangup"]);
  });

  test("a cough at the very end is waited for, and then the call ends", () => {
    const call = softly(joinedCall().run(320), FAREWELL).runUntil(({ reply }) => reply?.begun === true);
    const endMs = softly(joinedCall().run(320), FAREWELL).runUntil(
      ({ phase }) => phase.kind === "ended",
    ).atMs;
    call.run(endMs - 150 - call.atMs).coughs(120);
    call.run(20_000);
    expect(reasons(call)).toEqual(["agent_hangup"]);
    expect(call.timesOf("endCall")[0]).toBeGreaterThan(endMs);
  });

  test("the transport lost meanwhile only delays it", () => {
    const call = softly(joinedCall().run(320), FAREWELL).runUntil(({ reply }) => reply?.begun === true);
    call.run(300).post({ type: "transportLost" });
    call.run(2_000).post({ type: "transportRestored" });
    call.run(20_000);
    expect(call.transcript).toEqual([`agent: ${FAREWELL}`]);
    expect(reasons(call)).toEqual(["agent_hangup"]);
  });

  test("a voice that stops in the middle ends it too", () => {
    const call = joinedCall().run(320);
    call.voice.script = ["stall"];
    softly(call, FAREWELL).run(30_000);
    expect(reasons(call)).toEqual(["agent_hangup"]);
  });
});

test("speech at every 20 ms of a farewell is answered, or comes after the end", () => {
  const endMs = softly(joinedCall().run(320), FAREWELL).runUntil(({ phase }) => phase.kind === "ended").atMs;
  const calls = Array.from({ length: Math.ceil((endMs - 120) / 20) }, (_, n) => {
    const call = softly(joinedCall().run(320), FAREWELL).run(n * 20);
    return call.says("Wait, I have a question", 900).run(8_000);
  });
  // Only speech that has not been noticed when the message ends comes too late: two windows, and the one that runs.
  const [heard, late] = [calls.filter((call) => !call.hasEnded), calls.filter((call) => call.hasEnded)];
  expect(heard.length).toBeGreaterThan(calls.length - 20);
  expect(calls.findIndex((call) => call.hasEnded)).toBe(late.length === 0 ? -1 : heard.length);
  for (const call of heard) {
    expect(call.messages.at(-1)).toMatchObject({ role: "agent", text: expect.stringContaining("You said") });
    expect(call.state.softEnd).toBeNull();
  }
  for (const call of late) expect(call.messages.map(({ role }) => role)).toEqual(["agent"]);
});
