/** The cells of the soft end and of inactivity: what each event does in each of their states. Complete by type. */

import { describe, expect, test } from "vitest";
import { step, type CallState } from "./call.ts";
import type { Draft } from "./draft.ts";
import { endSoftly } from "./life/soft-end.ts";
import { after, heard, type EventType } from "./testing/every-event.ts";
import { deepFreeze } from "./testing/deep-freeze.ts";
import { joinedCall } from "./testing/scenario.ts";

/** Two windows of voice. */
function withSpeech(state: CallState): CallState {
  let now = state;
  for (let n = 0; n < 2; n += 1) {
    const { atMs, mediaMs } = now.clock;
    now = step(now, { type: "voiceScored", score: 0.9, mediaMs: mediaMs + 32, atMs }).state;
  }
  return now;
}

/** due: the agent still speaks, and the message comes after it. said: the message is being heard, or was. */
type SoftEndKind = "none" | "due" | "said" | "ended";
type OpenSoftEnd = Exclude<SoftEndKind, "ended">;
const SAME = { none: "none", due: "due", said: "said" } as const;
const GONE = { none: "ended", due: "ended", said: "ended" } as const;

const SOFT_ENDS: Readonly<Record<EventType, Readonly<Record<OpenSoftEnd, SoftEndKind>>>> = {
  started: SAME,
  joined: SAME,
  adopted: SAME,
  transportLost: SAME,
  transportRestored: SAME,
  transportHungUp: GONE,
  mediaIdled: GONE,
  mediaUnderflowed: SAME,
  mediaOverflowed: SAME,
  transportProblemNoticed: SAME,
  voiceScored: SAME,
  transcriptUpdated: SAME,
  transcriptFinished: SAME,
  transcriptFailed: SAME,
  replyTextReceived: SAME,
  replyTextFinished: SAME,
  replyFailed: SAME,
  sideTextReceived: SAME,
  sideToolCalled: SAME,
  sideTextFinished: SAME,
  sideGenerationFailed: SAME,
  segmentAudioReceived: SAME,
  segmentSynthesized: SAME,
  segmentFailed: SAME,
  segmentPlayoutStarted: SAME,
  segmentPlayoutAdvanced: SAME,
  // The last segment of the message: the user is silent, so that is the end.
  segmentPlayoutFinished: { ...SAME, said: "ended" },
  playoutPaused: SAME,
  playoutCleared: SAME,
  timerFired: SAME,
  // A ping is no request to go on.
  dataMessageReceived: SAME,
  dataMessageRejected: SAME,
  replyToolCalled: SAME,
  echoLearned: SAME,
  turnJudged: SAME,
  toolFinished: SAME,
  stagePrepared: SAME,
  stageRefused: SAME,
  dataConnectionOpened: SAME,
  dataConnectionLost: SAME,
  dataConnectionFailed: SAME,
  engineWarned: SAME,
  engineReplaced: SAME,
  spareSpeechPrepared: SAME,
  // The user acts, whether keys count as text or not.
  answererDetected: SAME,
  digitReceived: { none: "none", due: "none", said: "none" },
  // Last words, which are not those of the soft end.
  voiceDetectionFailed: GONE,
  endRequested: GONE,
  faulted: GONE,
};

const GOODBYE = "Thank you and goodbye.";

function inSoftEnd(kind: OpenSoftEnd): CallState {
  if (kind === "none") return joinedCall().run(320).state;
  const call = kind === "due" ? heard() : joinedCall().run(320);
  call.state = deepFreeze(changed(call.state, (draft) => endSoftly(draft, GOODBYE)));
  return kind === "due" ? call.state : call.runUntil(({ reply }) => reply?.begun === true).run(400).state;
}

function changed(state: CallState, change: (draft: Draft) => void): CallState {
  const draft: Draft = { state, effects: [] };
  change(draft);
  return draft.state;
}

function softEndOf({ phase, softEnd }: CallState): SoftEndKind {
  if (phase.kind !== "live") return "ended";
  if (softEnd === null) return "none";
  return softEnd.text === null ? "said" : "due";
}

describe.each(["none", "due", "said"] as const satisfies readonly OpenSoftEnd[])("soft end %s", (kind) => {
  test.each(Object.keys(SOFT_ENDS) as EventType[])("%s", (type) => {
    const state = inSoftEnd(kind);
    expect(softEndOf(state)).toBe(kind);
    expect(softEndOf(after(state, type))).toBe(SOFT_ENDS[type][kind]);
  });

  test("typed text of any urgency calls it off, speech without words does not", () => {
    const typed = { type: "user_text_message", text: "Wait", urgency: "later", threadId: "UI" } as const;
    const message = { type: "dataMessageReceived", message: typed, source: "client" } as const;
    const state = inSoftEnd(kind);
    expect(softEndOf(step(state, { ...message, atMs: state.clock.atMs }).state)).toBe("none");
    expect(softEndOf(withSpeech(state))).toBe(kind);
  });
});

/** counting: silence runs. paused: something is on its way. said: the reminder is being heard. */
type InactivityKind = "counting" | "paused" | "said" | "ended";
type OpenInactivity = Exclude<InactivityKind, "ended">;
const AS_IT_WAS = { counting: "counting", paused: "paused", said: "said" } as const;
const OUT = { counting: "ended", paused: "ended", said: "ended" } as const;

const REMINDERS: Readonly<Record<EventType, Readonly<Record<OpenInactivity, InactivityKind>>>> = {
  started: AS_IT_WAS,
  joined: AS_IT_WAS,
  // The agent speaks: it asks whether the user is there, or says the rest of the message.
  adopted: { counting: "paused", paused: "paused", said: "paused" },
  // A user who is not connected cannot answer.
  transportLost: { ...AS_IT_WAS, counting: "paused" },
  transportRestored: AS_IT_WAS,
  transportHungUp: OUT,
  mediaIdled: OUT,
  mediaUnderflowed: AS_IT_WAS,
  mediaOverflowed: AS_IT_WAS,
  transportProblemNoticed: AS_IT_WAS,
  voiceScored: AS_IT_WAS,
  transcriptUpdated: AS_IT_WAS,
  transcriptFinished: AS_IT_WAS,
  transcriptFailed: AS_IT_WAS,
  replyTextReceived: AS_IT_WAS,
  replyTextFinished: AS_IT_WAS,
  replyFailed: AS_IT_WAS,
  sideTextReceived: AS_IT_WAS,
  sideToolCalled: AS_IT_WAS,
  sideTextFinished: AS_IT_WAS,
  sideGenerationFailed: AS_IT_WAS,
  segmentAudioReceived: AS_IT_WAS,
  segmentSynthesized: AS_IT_WAS,
  segmentFailed: AS_IT_WAS,
  segmentPlayoutStarted: AS_IT_WAS,
  segmentPlayoutAdvanced: AS_IT_WAS,
  // The count for the next message begins with the end of this one.
  segmentPlayoutFinished: { ...AS_IT_WAS, said: "counting" },
  playoutPaused: AS_IT_WAS,
  playoutCleared: AS_IT_WAS,
  timerFired: AS_IT_WAS,
  dataMessageReceived: AS_IT_WAS,
  dataMessageRejected: AS_IT_WAS,
  replyToolCalled: AS_IT_WAS,
  echoLearned: AS_IT_WAS,
  turnJudged: AS_IT_WAS,
  toolFinished: AS_IT_WAS,
  stagePrepared: AS_IT_WAS,
  stageRefused: AS_IT_WAS,
  dataConnectionOpened: AS_IT_WAS,
  dataConnectionLost: AS_IT_WAS,
  dataConnectionFailed: AS_IT_WAS,
  engineWarned: AS_IT_WAS,
  engineReplaced: AS_IT_WAS,
  spareSpeechPrepared: AS_IT_WAS,
  digitReceived: AS_IT_WAS,
  answererDetected: AS_IT_WAS,
  voiceDetectionFailed: OUT,
  endRequested: OUT,
  faulted: OUT,
};

function inInactivity(kind: OpenInactivity): CallState {
  const message = { afterMs: 3_000, text: "Are you still there?", endBehavior: "none" } as const;
  const call = joinedCall({ stage: { inactivityMessages: [message, message] } }).run(320);
  // Speech that has not ended, so that no single event continues the count.
  if (kind === "paused") return call.says("I would like", 640).state;
  if (kind === "counting") return call.state;
  return call.runUntil(({ reply }) => reply?.begun === true).run(400).state;
}

function inactivityOf({ phase, inactivity, reply }: CallState): InactivityKind {
  if (phase.kind !== "live") return "ended";
  if (reply?.purpose === "reminder") return "said";
  return inactivity.sinceAtMs === null ? "paused" : "counting";
}

describe.each(["counting", "paused", "said"] as const satisfies readonly OpenInactivity[])(
  "inactivity %s",
  (kind) => {
    test.each(Object.keys(REMINDERS) as EventType[])("%s", (type) => {
      const state = inInactivity(kind);
      expect(inactivityOf(state)).toBe(kind);
      expect(inactivityOf(after(state, type))).toBe(REMINDERS[type][kind]);
    });

    test("speech stops the count", () => {
      const state = inInactivity(kind);
      expect(inactivityOf(withSpeech(state))).toBe(kind === "said" ? "said" : "paused");
    });
  },
);
