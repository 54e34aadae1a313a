import { describe, expect, test } from "vitest";
import type { LlmMessage } from "@parley/schema";
import { step, type CallState } from "../call.ts";
import type { CallEffect } from "../effects.ts";
import { HISTORY_MAX_CHARS, HISTORY_MAX_MESSAGES } from "../history/history.ts";
import { InvariantChecker } from "./invariants.ts";
import { testTool } from "./fake-tools.ts";
import { testPlan } from "./plan.ts";
import { joinedCall, type Scenario } from "./scenario.ts";
import { callWithQuestion } from "./tool-calls.ts";

/** Replays a call up to some point into a new checker, then shows it one impossible step. */
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
function historyOf({ history }: CallState, messages: number, charsEach: number): CallState["history"] {
  const [first] = history.entries;
  if (first === undefined) throw new Error("nothing was said");
  const entries = Array.from({ length: messages }, () => ({ ...first, text: "x".repeat(charsEach) }));
  return { ...history, entries, chars: messages * charsEach };
}
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

const RECORD = {
  stageId: testPlan().stage.stageId,
  medium: "voice",
  errorDetails: null,
  callState: null,
  timespan: { startMs: 0, endMs: 0 },
  wallClockTimespan: { startMs: 0, endMs: 0 },
  metadata: {},
} as const;
const toolRecord = (role: "tool_call" | "tool_result", invocationId: string, index: number): CallEffect => ({
  type: "recordMessage",
  message: { ...RECORD, role, invocationId, toolName: "look", text: "{}", index },
});
const invokes = (invocationId: string): CallEffect => ({
  type: "invokeTool",
  invocation: {
    invocationId,
    toolName: "look",
    implementation: { kind: "builtIn", builtIn: "queryCorpus" },
    values: [],
    timeoutMs: 1_000,
  },
});
const request = (messages: readonly LlmMessage[]): CallEffect => ({
  type: "generateReply",
  replyId: 900,
  request: {
    model: "default",
    temperature: 0,
    systemPrompt: "",
    instruction: null,
    languageHint: null,
    tools: [],
    messages,
  },
});
const calls: LlmMessage = {
  role: "agent",
  text: "",
  toolCalls: [
    { id: "a", name: "look", arguments: {} },
    { id: "b", name: "look", arguments: {} },
  ],
};
const result = (invocationId: string): LlmMessage => ({
  role: "tool",
  invocationId,
  toolName: "look",
  text: "",
});
const USER: LlmMessage = { role: "user", text: "Hello" };

/** User and agent are silent, and a reminder would come in five seconds. */
function quiet(): Scenario {
  const reminder = { afterMs: 5_000, text: "Are you there?", endBehavior: "none" } as const;
  return joinedCall({ stage: { inactivityMessages: [reminder] } }).run(1_000);
}
const written = () => {
  const call = joinedCall({ initialOutputMedium: "text" });
  call.llm.script = [{ text: "Of course. ", end: "hang" }];
  return call
    .run(320)
    .says("Good morning", 640)
    .runUntil(({ reply }) => reply?.begun === true);
};
const requested = () => {
  const call = callWithQuestion([testTool("look")], { text: "", calls: [{ name: "look" }] });
  call.tools.script = [{ how: "hang" }];
  return call.runUntil(({ toolRound }) => toolRound !== null);
};
const idOf = ({ state }: Scenario) => state.toolRound?.calls[0]?.invocationId ?? "";
const indexOf = ({ state }: Scenario) => state.history.nextIndex;
const pausing = () => {
  const call = joinedCall({ turnTaking: { judgementWaitMs: 60_000 } });
  return call
    .run(320)
    .says("I would like", 640)
    .runUntil(({ turn, voice }) => turn.kind === "pausing" && turn.transcript !== null && !voice.speaking);
};

describe("the checker notices, of tools, quiet, text and turn detectors,", () => {
  test.each<[string, string, () => Scenario, (call: Scenario) => Parameters<typeof forge>[1]]>([
    [
      "a gap in the messages at the end",
      "I11",
      speaking,
      ({ state }) => ({
        after: {
          phase: { kind: "ended", reason: "hangup" },
          history: { ...state.history, nextIndex: state.history.nextIndex + 1 },
        },
      }),
    ],
    [
      "a message beyond the indices",
      "I11",
      speaking,
      (call) => ({ effects: [toolRecord("tool_call", "x", indexOf(call))] }),
    ],
    [
      "a turn of too little speech",
      "I12",
      speaking,
      ({ state }) => ({
        after: {
          inputs: {
            ...state.inputs,
            turn: { turnId: 99, speechEndAtMs: 0, endOfTurnAtMs: 0, transcriptAtMs: null },
          },
        },
      }),
    ],
    [
      "a history of too many characters",
      "I13",
      speaking,
      ({ state }) => ({ after: { history: historyOf(state, 36, Math.ceil(HISTORY_MAX_CHARS / 36) + 1) } }),
    ],
    [
      "a history of too many messages",
      "I13",
      speaking,
      ({ state }) => ({ after: { history: historyOf(state, HISTORY_MAX_MESSAGES + 1, 0) } }),
    ],
    [
      "a history whose characters are not counted",
      "I13",
      speaking,
      ({ state: { history } }) => ({ after: { history: { ...history, chars: history.chars + 1 } } }),
    ],
    ["an invocation that is sent twice", "I16", requested, (call) => ({ effects: [invokes(idOf(call))] })],
    [
      "one that is sent to the client as well",
      "I16",
      requested,
      (call) => ({
        effects: [
          {
            type: "sendDataMessage",
            message: {
              type: "client_tool_invocation",
              toolName: "look",
              invocationId: idOf(call),
              parameters: {},
            },
          },
        ],
      }),
    ],
    [
      "a call that is recorded twice",
      "I17",
      requested,
      (call) => ({ effects: [toolRecord("tool_call", idOf(call), 0)] }),
    ],
    [
      "a second result",
      "I17",
      requested,
      (call) => ({
        effects: [toolRecord("tool_result", idOf(call), 0), toolRecord("tool_result", idOf(call), 0)],
      }),
    ],
    ["a result without its call", "I17", requested, () => ({ effects: [toolRecord("tool_result", "x", 0)] })],
    [
      "a call that has no result by the end",
      "I17",
      requested,
      () => ({
        effects: [{ type: "endCall", reason: "hangup", closeCode: 1000, detail: null }],
      }),
    ],
    [
      "an answer while a round is open",
      "I18",
      requested,
      () => ({ after: { reply: speaking().state.reply } }),
    ],
    ["calls without results", "I19", speaking, () => ({ effects: [request([USER, calls])] })],
    ["calls before other words", "I19", speaking, () => ({ effects: [request([calls, USER])] })],
    [
      "results in another order",
      "I19",
      speaking,
      () => ({ effects: [request([calls, result("b"), result("a")])] }),
    ],
    ["a result that stands alone", "I19", speaking, () => ({ effects: [request([USER, result("a")])] })],
    [
      "words to a data connection that is not there",
      "I20",
      speaking,
      () => ({
        effects: [{ type: "sendDataConnectionMessage", message: { type: "pong", timestamp: 1 } }],
      }),
    ],
    ["a soft end that is forgotten", "I24", quiet, () => ({ after: { softEnd: { text: null } } })],
    [
      "silence that nobody counts",
      "I25",
      quiet,
      ({ state }) => {
        const { inactivity: _, ...timers } = state.timers;
        return { after: { timers } };
      },
    ],
    [
      "silence that is counted while the user speaks",
      "I25",
      quiet,
      ({ state }) => ({ after: { voice: { ...state.voice, speaking: true } } }),
    ],
    [
      "a written reply that is spoken",
      "I26",
      written,
      ({ state }) => ({ effects: [{ type: "speak", replyId: state.reply?.replyId ?? 0 }] }),
    ],
    [
      "a written reply that is synthesized",
      "I26",
      written,
      ({ state }) => ({
        effects: [
          {
            type: "synthesize",
            replyId: state.reply?.replyId ?? 0,
            segmentId: 99,
            text: "Of course.",
            voice: { kind: "deployment", name: null },
            languageHint: null,
            silent: false,
          },
        ],
      }),
    ],
    [
      "a request beyond the model's window",
      "I27",
      speaking,
      () => ({ effects: [request([USER, { role: "user", text: "x".repeat(200_000) }])] }),
    ],
    [
      "a question to the turn detectors about no utterance",
      "I8 I34",
      speaking,
      () => ({
        effects: [
          {
            type: "judgeTurn",
            utteranceId: 99,
            revision: 1,
            text: "Hello",
            agentText: "",
            languageHint: null,
          },
        ],
      }),
    ],
    [
      "a turn that is not ended",
      "I35",
      pausing,
      ({ state }) => ({ after: { voice: { ...state.voice, frameMediaMs: state.clock.mediaMs + 9_000 } } }),
    ],
  ])("%s", (_, invariant, held, forged) => {
    const call = held();
    const broken = forge(call, forged(call));
    expect(broken.some((text) => text.startsWith(`${invariant} `))).toBe(true);
  });

  test("nothing of a request that is longer than the window by its newest message alone", () => {
    const long: LlmMessage = { role: "user", text: "x".repeat(200_000) };
    expect(forge(speaking(), { effects: [request([long])] })).toEqual([]);
  });
});

test("the scenario notices words that count as heard before they were played (I36)", () => {
  const call = joinedCall().run(320);
  call.voice.playedChars = () => 0;
  expect(() => call.says("Good morning", 640).run(3_000)).toThrow(/I36/);
});

test("the scenario stops at the step that breaks an invariant, and freezes every state", () => {
  const call = speaking();
  expect(Object.isFrozen(call.state) && Object.isFrozen(call.state.reply?.segments)).toBe(true);
  call.state = { ...call.state, timers: {} };
  expect(() => {
    call.run(64);
  }).toThrow(/I6|I14/);
});
