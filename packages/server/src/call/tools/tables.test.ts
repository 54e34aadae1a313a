/**
 * The cells of a round of tools: what each event does while none is open, and in each state of its call. Complete by
 * type.
 */

import { describe, expect, test } from "vitest";
import { step, type CallState } from "../call.ts";
import type { DataConnectionPlan } from "../../plan/data-connection-plan.ts";
import type { CallEngineEventBody } from "../events.ts";
import { builtInTool, testTool, type ToolRun } from "../testing/fake-tools.ts";
import { after, type EventType } from "../testing/every-event.ts";
import { testPlan } from "../testing/plan.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";
import type { ToolPlan } from "../../plan/tool-plan.ts";

/**
 * held: the call is known, and the speech before it is being heard. running, overData: it is requested, by the service
 * or over the data connection. staging: its new stage is being prepared. sounding: its tones are in the slot.
 */
type RoundKind = "none" | "held" | "running" | "overData" | "staging" | "sounding";

const STAY = {
  none: "none",
  held: "held",
  running: "running",
  overData: "overData",
  staging: "staging",
  sounding: "sounding",
} as const;
/** The call is over, and every call of a round has its result. */
const GONE = {
  none: "none",
  held: "none",
  running: "none",
  overData: "none",
  staging: "none",
  sounding: "none",
} as const;

const ROUNDS: Readonly<Record<EventType, Readonly<Record<RoundKind, RoundKind>>>> = {
  started: STAY,
  joined: STAY,
  // What was sent is not sent again. Preparing a stage is, for it only reads. What was held is sent: its speech was heard.
  adopted: { ...STAY, held: "running", running: "none", overData: "none", sounding: "none" },
  transportLost: STAY,
  transportRestored: STAY,
  transportHungUp: GONE,
  mediaIdled: GONE,
  mediaUnderflowed: STAY,
  mediaOverflowed: STAY,
  transportProblemNoticed: STAY,
  voiceScored: STAY,
  transcriptUpdated: STAY,
  transcriptFinished: STAY,
  transcriptFailed: STAY,
  replyTextReceived: STAY,
  replyTextFinished: STAY,
  replyFailed: STAY,
  sideTextReceived: STAY,
  sideToolCalled: STAY,
  sideTextFinished: STAY,
  sideGenerationFailed: STAY,
  segmentAudioReceived: STAY,
  segmentSynthesized: STAY,
  segmentFailed: STAY,
  segmentPlayoutStarted: STAY,
  segmentPlayoutAdvanced: STAY,
  // The speech is over and its call begins; the tones are over and have their result.
  segmentPlayoutFinished: { ...STAY, held: "running", sounding: "none" },
  playoutPaused: STAY,
  playoutCleared: STAY,
  timerFired: STAY,
  dataMessageReceived: STAY,
  dataMessageRejected: STAY,
  // Of a generation that has ended.
  replyToolCalled: STAY,
  echoLearned: STAY,
  turnJudged: STAY,
  toolFinished: { ...STAY, running: "none" },
  stagePrepared: { ...STAY, staging: "none" },
  stageRefused: { ...STAY, staging: "none" },
  dataConnectionOpened: STAY,
  dataConnectionLost: { ...STAY, overData: "none" },
  dataConnectionFailed: { ...STAY, overData: "none" },
  engineWarned: STAY,
  engineReplaced: STAY,
  spareSpeechPrepared: STAY,
  digitReceived: STAY,
  answererDetected: STAY,
  // Last words: the speech with its call is cut, what runs may still come in.
  voiceDetectionFailed: { ...STAY, held: "none" },
  endRequested: GONE,
  faulted: GONE,
};

const TOOLS: readonly ToolPlan[] = [
  testTool("here"),
  testTool("there", { implementation: { kind: "dataConnection" } }),
  builtInTool("playDtmfSounds", [], { digits: "123456" }),
];

const DATA_CONNECTION: DataConnectionPlan = {
  websocketUrl: "wss://data.example/",
  headers: {},
  sharedSecrets: [],
  audio: null,
  dataMessages: { ...testPlan().dataMessages, dataConnectionToolInvocation: true },
};

function calling(name: string, run: ToolRun, text = ""): Scenario {
  const call = joinedCall({ stage: { tools: TOOLS }, dataConnection: DATA_CONNECTION });
  call.llm.script = [{ text, calls: [{ name }] }];
  call.tools.script = [run];
  call.tools.stages = ["hang"];
  call.post({ type: "dataConnectionOpened" });
  return call.run(320).says("Any rooms left?", 640);
}

const HANG: ToolRun = { how: "hang" };
const NEXT_STAGE: ToolRun = { how: "answer", responseType: "new-stage", result: "{}" };

const IN_ROUND: Readonly<Record<RoundKind, () => CallState>> = {
  none: () => calling("here", { how: "answer" }, "One moment.").run(20_000).state,
  held: () =>
    calling("here", HANG, "One moment please.")
      .runUntil(({ reply }) => reply?.begun === true)
      .run(300).state,
  running: () =>
    calling("here", HANG)
      .runUntil(({ toolRound }) => toolRound !== null)
      .run(200).state,
  overData: () =>
    calling("there", HANG)
      .runUntil(({ toolRound }) => toolRound !== null)
      .run(200).state,
  staging: () => calling("here", NEXT_STAGE).runUntil((state) => kindOf(state) === "staging").state,
  sounding: () =>
    calling("playDtmfSounds", HANG).runUntil(({ reply }) => reply?.purpose === "tones" && reply.begun).state,
};

function kindOf({ toolRound, reply, stage }: CallState): RoundKind {
  const [open] = toolRound?.calls ?? [];
  if (open === undefined) return (reply?.calls.length ?? 0) > 0 ? "held" : "none";
  const tool = stage.tools.find(({ name }) => name === open.toolName);
  const { kind } = open.progress;
  if (kind === "running") return tool?.implementation.kind === "dataConnection" ? "overData" : "running";
  return kind === "staging" || kind === "sounding" ? kind : "none";
}

describe.each(Object.keys(IN_ROUND) as RoundKind[])("round of tools: %s", (kind) => {
  test.each(Object.keys(ROUNDS) as EventType[])("%s", (type) => {
    const state = IN_ROUND[kind]();
    expect(kindOf(state)).toBe(kind);
    const next = after(state, type);
    expect(kindOf(next)).toBe(ROUNDS[type][kind]);
    // Whatever ends a round puts a result of each of its calls on record.
    const open = state.toolRound?.calls ?? [];
    const known = next.history.entries.filter(({ role }) => role === "tool_result");
    const isAnswered = open.every(({ invocationId }) =>
      known.some((entry) => entry.invocationId === invocationId),
    );
    expect(next.toolRound !== null || isAnswered).toBe(true);
  });
});

type Input = "deadline" | "resultOfClient" | "resultOverData" | "typedText" | "hangUp" | "words";

const INPUTS: Readonly<Record<Input, Readonly<Record<RoundKind, RoundKind>>>> = {
  deadline: { ...STAY, running: "none", overData: "none", staging: "none" },
  // Nothing was requested of the client.
  resultOfClient: STAY,
  resultOverData: { ...STAY, overData: "none" },
  // Cuts the speech, and with it the call that was to follow; a round goes on, and tones play on.
  typedText: { ...STAY, held: "none" },
  // Last words: speech is cut; the round has the time that they take.
  hangUp: { ...STAY, held: "none" },
  words: { ...STAY, held: "none" },
};

function withInput(state: CallState, input: Input): CallState {
  let now = state;
  const post = (event: CallEngineEventBody) => {
    now = step(now, { ...event, atMs: now.clock.atMs }).state;
  };
  const invocationId = state.toolRound?.calls[0]?.invocationId ?? "none";
  const answer = { invocationId, result: "found", responseType: "tool-response" } as const;
  const typed = { type: "user_text_message", text: "Wait", urgency: "immediate", threadId: "UI" } as const;
  switch (input) {
    case "deadline": {
      const timer = state.timers.tool;
      const atMs = state.clock.atMs + 60_000;
      if (timer !== undefined) now = step(now, { type: "timerFired", timerId: timer.timerId, atMs }).state;
      break;
    }
    case "resultOfClient":
      post({
        type: "dataMessageReceived",
        message: { type: "client_tool_result", ...answer },
        source: "client",
      });
      break;
    case "resultOverData": {
      const message = { type: "data_connection_tool_result", ...answer } as const;
      post({ type: "dataMessageReceived", message, source: "dataConnection" });
      break;
    }
    case "typedText":
      post({ type: "dataMessageReceived", message: typed, source: "client" });
      break;
    case "hangUp":
      post({ type: "dataMessageReceived", message: { type: "hang_up", message: "Goodbye." }, source: "api" });
      break;
    case "words":
      for (let n = 0; n < 34; n += 1)
        post({ type: "voiceScored", score: 0.9, mediaMs: now.clock.mediaMs + 32 });
  }
  return now;
}

describe.each(Object.keys(IN_ROUND) as RoundKind[])("round of tools: %s", (kind) => {
  test.each(Object.keys(INPUTS) as Input[])("%s", (input) => {
    expect(kindOf(withInput(IN_ROUND[kind](), input))).toBe(INPUTS[input][kind]);
  });
});
