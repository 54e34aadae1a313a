/**
 * What each part of a call does with each event, cell by cell. The tables are complete by type: a new state or a new
 * event does not compile until a test says what happens to it.
 */

import { describe, expect, test } from "vitest";
import { initialState, step, type CallState } from "./call.ts";
import { counts } from "./dispatch.ts";
import type { CallEngineEventBody } from "./events.ts";
import type { Connection, Phase, Playout, Turn } from "./state.ts";
import { testPlan } from "./testing/plan.ts";
import { after, heard, type EventType } from "./testing/every-event.ts";
import { joinedCall, Scenario } from "./testing/scenario.ts";

type PhaseKind = Phase["kind"];

const STAY = {
  created: "created",
  waiting: "waiting",
  live: "live",
  parting: "parting",
  ended: "ended",
} as const;
const ENDS = { created: "ended", waiting: "ended", live: "ended", parting: "ended", ended: "ended" } as const;

const PHASES: Readonly<Record<EventType, Readonly<Record<PhaseKind, PhaseKind>>>> = {
  started: { ...STAY, created: "waiting" },
  joined: { ...STAY, waiting: "live" },
  adopted: { ...STAY, parting: "ended" },
  transportLost: { ...STAY, parting: "ended" },
  transportRestored: STAY,
  transportHungUp: ENDS,
  mediaIdled: { ...STAY, live: "ended", parting: "ended" },
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
  segmentPlayoutFinished: { ...STAY, parting: "ended" },
  playoutPaused: STAY,
  playoutCleared: STAY,
  timerFired: STAY,
  dataMessageReceived: STAY,
  dataMessageRejected: STAY,
  replyToolCalled: STAY,
  echoLearned: STAY,
  turnJudged: STAY,
  toolFinished: STAY,
  stagePrepared: STAY,
  stageRefused: STAY,
  dataConnectionOpened: STAY,
  dataConnectionLost: STAY,
  dataConnectionFailed: STAY,
  engineWarned: STAY,
  engineReplaced: STAY,
  spareSpeechPrepared: STAY,
  digitReceived: STAY,
  answererDetected: STAY,
  voiceDetectionFailed: {
    created: "ended",
    waiting: "ended",
    live: "parting",
    parting: "parting",
    ended: "ended",
  },
  endRequested: ENDS,
  faulted: ENDS,
};

const IN_PHASE: Readonly<Record<PhaseKind, () => CallState>> = {
  created: () => initialState(testPlan()),
  waiting: () => new Scenario().run(100).state,
  live: () => joinedCall().run(100).state,
  parting: () => joinedCall().run(100).sends({ type: "hang_up", message: "Goodbye." }).run(300).state,
  ended: () => {
    const call = joinedCall().run(100);
    call.post({ type: "transportHungUp" });
    return call.state;
  },
};

/** Ways to a phase that wait for a join do not answer for it; last words need a second test of their ending. */
describe.each(Object.keys(IN_PHASE) as PhaseKind[])("phase %s", (phase) => {
  test.each(Object.keys(PHASES) as EventType[])("%s", (type) => {
    const state = IN_PHASE[phase]();
    expect(state.phase.kind).toBe(phase);
    const next = after(state, type);
    expect(next.phase.kind).toBe(PHASES[type][phase]);
    // An event that does not count in this phase leaves no trace but the time.
    const traceless = JSON.stringify({ ...next, clock: state.clock }) === JSON.stringify(state);
    expect(counts(phase, type) || traceless).toBe(true);
  });
});

/** What happens to a turn, in the words of its machine. */
type TurnInput =
  | "speech"
  | "shortSilence"
  | "endpointSilence"
  | "partial"
  | "words"
  | "wordsJudged"
  | "nothingUnderstood"
  | "staleWords"
  | "failure"
  | "turnLimit"
  | "lastWords";
type TurnKind = Turn["kind"];

const TURNS: Readonly<Record<TurnInput, Readonly<Record<TurnKind, TurnKind>>>> = {
  speech: { quiet: "speaking", speaking: "speaking", pausing: "speaking", ended: "speaking" },
  shortSilence: { quiet: "quiet", speaking: "pausing", pausing: "pausing", ended: "ended" },
  endpointSilence: { quiet: "quiet", speaking: "ended", pausing: "ended", ended: "ended" },
  partial: { quiet: "quiet", speaking: "speaking", pausing: "pausing", ended: "ended" },
  words: { quiet: "quiet", speaking: "speaking", pausing: "pausing", ended: "pausing" },
  wordsJudged: { quiet: "quiet", speaking: "speaking", pausing: "pausing", ended: "quiet" },
  nothingUnderstood: { quiet: "quiet", speaking: "speaking", pausing: "pausing", ended: "pausing" },
  staleWords: { quiet: "quiet", speaking: "speaking", pausing: "pausing", ended: "ended" },
  failure: { quiet: "quiet", speaking: "speaking", pausing: "pausing", ended: "ended" },
  turnLimit: { quiet: "quiet", speaking: "ended", pausing: "ended", ended: "ended" },
  lastWords: { quiet: "quiet", speaking: "quiet", pausing: "quiet", ended: "quiet" },
};

const FRAMES: Readonly<Partial<Record<TurnInput, readonly [number, number]>>> = {
  speech: [2, 0.9],
  shortSilence: [3, 0],
  endpointSilence: [12, 0],
};

function inTurn(kind: TurnKind): CallState {
  const call = joinedCall();
  call.stt.script = ["hang", "hang"];
  call.run(320);
  if (kind === "quiet") return call.state;
  call.says("I would like", 640);
  if (kind !== "speaking") call.runUntil(({ turn }) => turn.kind === kind && turn.request === "asked");
  return call.state;
}

function withTurnInput(state: CallState, input: TurnInput): CallState {
  const post = (now: CallState, event: CallEngineEventBody) =>
    step(now, { ...event, atMs: now.clock.atMs }).state;
  const frames = FRAMES[input];
  if (frames !== undefined) {
    let now = state;
    for (let n = 0; n < frames[0]; n += 1) {
      now = post(now, { type: "voiceScored", score: frames[1], mediaMs: now.clock.mediaMs + 32 });
    }
    return now;
  }
  const turn = state.turn.kind === "quiet" ? { utteranceId: 1, revision: 0 } : state.turn;
  const { utteranceId, revision } = turn;
  const finished = {
    type: "transcriptFinished",
    utteranceId,
    revision,
    text: "a room",
    understood: true,
  } as const;
  const timerId = state.timers.turnLimit?.timerId ?? 0;
  const events: Readonly<
    Record<Exclude<TurnInput, "speech" | "shortSilence" | "endpointSilence">, CallEngineEventBody>
  > = {
    partial: { type: "transcriptUpdated", utteranceId, text: "a" },
    words: finished,
    wordsJudged: { type: "turnJudged", utteranceId, revision, finished: 1, by: "text" },
    nothingUnderstood: { ...finished, text: "", understood: false },
    staleWords: { ...finished, revision: revision - 1 },
    failure: { type: "transcriptFailed", utteranceId, revision, error: "refused" },
    turnLimit: { type: "timerFired", timerId },
    lastWords: {
      type: "dataMessageReceived",
      message: { type: "hang_up", message: "Goodbye." },
      source: "api",
    },
  };
  const known = input === "wordsJudged" ? post(state, finished) : state;
  return post(known, events[input as keyof typeof events]);
}

describe.each(["quiet", "speaking", "pausing", "ended"] as const satisfies readonly TurnKind[])(
  "turn %s",
  (kind) => {
    test.each(Object.keys(TURNS) as TurnInput[])("%s", (input) => {
      const state = inTurn(kind);
      expect(state.turn.kind).toBe(kind);
      expect(withTurnInput(state, input).turn.kind).toBe(TURNS[input][kind]);
    });
  },
);

/** `free`: no reply in the slot. */
type Slot = Playout | "free";
const KEEP = { free: "free", closed: "closed", open: "open", paused: "paused", cutting: "cutting" } as const;
const OVER = { free: "free", closed: "free", open: "free", paused: "free", cutting: "free" } as const;

/**
 * `closed` is a speculative reply in the silence after speech, `open` one that is heard while its text is still coming,
 * `paused` the same under a cough, `cutting` the same after it was cut. A transcript with words is what confirms.
 */
const SLOTS: Readonly<Record<EventType, Readonly<Record<Slot, Slot>>>> = {
  started: KEEP,
  joined: KEEP,
  // What was said goes on, or the user is asked whether they are there.
  adopted: { free: "open", closed: "open", open: "open", paused: "open", cutting: "open" },
  transportLost: { ...KEEP, open: "paused" },
  transportRestored: KEEP,
  transportHungUp: OVER,
  mediaIdled: OVER,
  mediaUnderflowed: KEEP,
  mediaOverflowed: KEEP,
  transportProblemNoticed: KEEP,
  voiceScored: { ...KEEP, closed: "open", paused: "open" },
  transcriptUpdated: { ...KEEP, paused: "cutting" },
  transcriptFinished: { ...KEEP, paused: "cutting" },
  transcriptFailed: KEEP,
  replyTextReceived: KEEP,
  replyTextFinished: KEEP,
  // Unheard it is dropped; heard, its finished sentences are said before another goes on.
  replyFailed: { ...KEEP, closed: "free" },
  sideTextReceived: KEEP,
  sideToolCalled: KEEP,
  sideTextFinished: KEEP,
  sideGenerationFailed: KEEP,
  segmentAudioReceived: KEEP,
  segmentSynthesized: KEEP,
  segmentFailed: KEEP,
  segmentPlayoutStarted: KEEP,
  segmentPlayoutAdvanced: KEEP,
  segmentPlayoutFinished: KEEP,
  playoutPaused: KEEP,
  playoutCleared: { ...KEEP, cutting: "free" },
  timerFired: KEEP,
  dataMessageReceived: KEEP,
  dataMessageRejected: KEEP,
  replyToolCalled: KEEP,
  echoLearned: KEEP,
  turnJudged: KEEP,
  toolFinished: KEEP,
  stagePrepared: KEEP,
  stageRefused: KEEP,
  dataConnectionOpened: KEEP,
  dataConnectionLost: KEEP,
  dataConnectionFailed: KEEP,
  engineWarned: KEEP,
  engineReplaced: KEEP,
  spareSpeechPrepared: KEEP,
  digitReceived: KEEP,
  answererDetected: KEEP,
  // Last words take the slot once what was heard is known.
  voiceDetectionFailed: {
    free: "open",
    closed: "open",
    open: "cutting",
    paused: "cutting",
    cutting: "cutting",
  },
  endRequested: OVER,
  faulted: OVER,
};

const WITH_SLOT: Readonly<Record<Slot, () => CallState>> = {
  free: () => joinedCall().run(320).state,
  closed: () => {
    const call = joinedCall();
    call.llm.script = [{ text: "It is a lovely hotel. It has rooms", firstMs: 10, pieceMs: 4, end: "hang" }];
    call.run(320).says("Good morning", 640);
    return call.runUntil(({ reply }) => reply?.segments[0] !== undefined).state;
  },
  open: () => heard().state,
  paused: () => {
    const call = heard();
    call.stt.script = ["hang"];
    return call.coughs(200).runUntil(({ turn }) => turn.kind !== "quiet" && turn.request === "asked").state;
  },
  cutting: () => {
    const call = heard();
    call.voice.answers = false;
    return call.coughs(700).runUntil(({ reply }) => reply?.playout === "cutting").state;
  },
};

describe.each(Object.keys(WITH_SLOT) as Slot[])("slot %s", (slot) => {
  test.each(Object.keys(SLOTS) as EventType[])("%s", (type) => {
    const state = WITH_SLOT[slot]();
    expect(state.reply?.playout ?? "free").toBe(slot);
    expect(after(state, type).reply?.playout ?? "free").toBe(SLOTS[type][slot]);
  });
});

const CONNECTIONS: Readonly<
  Record<"transportLost" | "transportRestored", Readonly<Record<Connection["kind"], Connection["kind"]>>>
> = {
  transportLost: { connected: "lost", lost: "lost" },
  transportRestored: { connected: "connected", lost: "connected" },
};

test.each(["transportLost", "transportRestored"] as const)("connection: %s", (type) => {
  const connected = joinedCall().run(320).state;
  const lost = after(connected, "transportLost");
  expect(after(connected, type).connection.kind).toBe(CONNECTIONS[type].connected);
  expect(after(lost, type).connection.kind).toBe(CONNECTIONS[type].lost);
  expect(after(lost, "transportLost").connection.losses).toBe(1);
});
