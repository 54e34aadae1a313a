import { describe, expect, test } from "vitest";
import { step, type CallState } from "./call.ts";
import type { CallEffect } from "./effects.ts";
import { InvariantChecker } from "./invariants.ts";
import { joinedCall, type Scenario } from "./testing/scenario.ts";

/** Replays a call up to some point into a new checker, then shows it one step that nobody could have taken. */
function forge(call: Scenario, forged: { effects?: readonly CallEffect[]; after?: Partial<CallState> }) {
  const checker = new InvariantChecker();
  let before = call.first;
  for (const event of call.events) {
    const { state, effects } = step(before, event);
    expect(checker.observe({ before, event, after: state, effects })).toEqual([]);
    before = state;
  }
  const event = { type: "timerFired", timerId: 0, atMs: call.atMs } as const;
  const after = { ...before, ...forged.after };
  return checker.observe({ before, event, after, effects: forged.effects ?? [] });
}

const speaking = () => joinedCall().run(320).says("Good morning", 640).run(1_500);
const transcript = (ordinal: number, text: string, final: boolean) =>
  ({
    type: "sendDataMessage",
    message: { type: "transcript", role: "agent", medium: "voice", text, final, ordinal },
  }) as const;

describe("the checker notices", () => {
  test.each<[string, string, (call: Scenario) => Parameters<typeof forge>[1]]>([
    [
      "a second reply",
      "I3",
      ({ state }) => ({ effects: [{ type: "speak", replyId: (state.reply?.replyId ?? 0) + 1 }] }),
    ],
    [
      "speech of an aborted reply",
      "I4",
      ({ state }) => {
        const replyId = state.reply?.replyId ?? 0;
        return {
          effects: [
            { type: "abortReply", replyId },
            { type: "pausePlayout", replyId },
          ],
        };
      },
    ],
    ["an id used twice", "I5", () => ({ effects: [{ type: "setTimer", timerId: 1, delayMs: 5 }] })],
    [
      "a timer that nobody knows",
      "I6",
      () => ({ effects: [{ type: "setTimer", timerId: 999, delayMs: 5 }] }),
    ],
    ["a cancelled timer that never ran", "I6", () => ({ effects: [{ type: "cancelTimer", timerId: 998 }] })],
    [
      "an utterance abandoned twice",
      "I8",
      () => ({ effects: [{ type: "abandonUtterance", utteranceId: 1 }] }),
    ],
    ["a gap in the ordinals", "I9", () => ({ effects: [transcript(7, "Hi", false)] })],
    ["a final text that was not shown", "I9", () => ({ effects: [transcript(1, "Something else", true)] })],
    [
      "a repeated state",
      "I10",
      () => ({ effects: [{ type: "sendDataMessage", message: { type: "state", state: "speaking" } }] }),
    ],
    ["time running back", "I2", ({ state }) => ({ after: { clock: { ...state.clock, atMs: 0 } } })],
    ["an end without its effect", "I1", () => ({ after: { phase: { kind: "ended", reason: "hangup" } } })],
    [
      "a held greeting",
      "I7",
      ({ state }) => ({
        after: { reply: state.reply && { ...state.reply, uninterruptible: true, heldBy: 1 } },
      }),
    ],
    ["a reply that waits without a limit", "I14", () => ({ after: { timers: {} } })],
    [
      "a due reply that is forgotten",
      "I14",
      ({ state }) => ({
        after: { reply: null, inputs: { ...state.inputs, received: state.inputs.received + 1 } },
      }),
    ],
  ])("%s", (_, invariant, forged) => {
    const call = speaking();
    expect(call.state.shown).toBe("speaking");
    expect(forge(call, forged(call)).some((broken) => broken.startsWith(`${invariant} `))).toBe(true);
  });
});

test("the scenario stops at the step that breaks an invariant, and freezes every state", () => {
  const call = speaking();
  expect(Object.isFrozen(call.state) && Object.isFrozen(call.state.reply?.segments)).toBe(true);
  call.state = { ...call.state, timers: {} };
  expect(() => {
    call.run(64);
  }).toThrow(/I6|I14/);
});
