/**
 * The user's turns: voice activity from scores, utterances, the end of a turn, and its transcript. Silence is measured
 * in received media, so a slow machine does not lengthen it; only the length of a whole turn has a timer.
 * Rules R6 to R11, R22, R88, R92 and R155 of SPEC.md.
 */

import { formatDurationMs } from "@parley/schema";
import { debug, send } from "../call-events.ts";
import { askJudges, endpointMs, forgetPause, leastWaitMs, learnPause } from "./endpointing.ts";
import { seemsOver } from "./early-request.ts";
import { emit, nextId, update, updateTurn, type Draft } from "../draft.ts";
import { forgetFailures, markLost, noteFailure, noteSuccess } from "../life/engines.ts";
import type { EventOf } from "../events.ts";
import { passOpening } from "../reply/first-speaker.ts";
import { addNotUnderstood, addUserMessage } from "../history/history.ts";
import { isOverAgent, meaningOf } from "./meaning.ts";
import { commitReply, dropSpeculation, noteInput } from "../reply/reply.ts";
import { isSpeakable } from "../reply/segment.ts";
import type { CallState, Turn, UserTurn, VoiceActivity } from "../state.ts";
import type { WantedTimers } from "../timers.ts";
import { recordNotUnderstood } from "./turn-record.ts";
import { showUserText } from "../history/transcript.ts";
import { isAllDoubtful, originOf } from "./window-origin.ts";
import { hasWords, isDoubtful } from "./words-of-turn.ts";
import { noteUserActivity } from "./user-activity.ts";

/** Length of one voice activity window. */
export const FRAME_MS = 32;
/** A single window above a low threshold is a click or a breath; two in a row are voice. */
export const ONSET_MS = 2 * FRAME_MS;
/** Closed lips of a stop consonant give up to two silent windows; the third ends the run of speech. */
export const DROPOUT_MS = 3 * FRAME_MS;
/** Audio that an utterance takes from before its detection: the onset, and a soft first consonant before it. */
export const PREROLL_MS = 320;
/** A user who goes on this soon after the agent's first sound had perhaps not finished. */
export const CUT_OFF_MS = 1_000;
/** After a longer silence the user was not cut off; the answer was merely late. */
export const CUT_OFF_PAUSE_MAX_MS = 2_000;
/** A minute of fast speech has about 1,500 characters; more than this is not a transcript. */
export const TRANSCRIPT_MAX_CHARS = 10_000;

export const QUIET: Turn = { kind: "quiet" };
export const NO_VOICE: VoiceActivity = {
  speaking: false,
  onsetMs: 0,
  runMs: 0,
  lastSpeechMediaMs: 0,
  lastSpeechAtMs: 0,
  pauseMs: 0,
  frameMediaMs: 0,
  origin: "user",
};

export function onVoiceScored(draft: Draft, { score, mediaMs, echo = 0 }: EventOf<"voiceScored">): void {
  const { voice, clock, phase, stage } = draft.state;
  if (mediaMs <= voice.frameMediaMs) return;
  const origin = originOf(draft.state, echo);
  update(draft, { clock: { ...clock, mediaMs }, voice: { ...voice, frameMediaMs: mediaMs, origin } });
  if (phase.kind !== "live") return;
  if (origin === "agent" && isAllDoubtful(draft.state)) dropTurn(draft, "the agent's own voice");
  const isSpeech = score > stage.vad.frameActivationThreshold && origin !== "agent";
  if (draft.state.voice.speaking) continueVoice(draft, isSpeech);
  else awaitVoice(draft, isSpeech);
}

function awaitVoice(draft: Draft, isSpeech: boolean): void {
  const { voice, clock } = draft.state;
  const onsetMs = isSpeech ? voice.onsetMs + FRAME_MS : 0;
  if (onsetMs < ONSET_MS) {
    if (onsetMs !== voice.onsetMs) update(draft, { voice: { ...voice, onsetMs } });
    return;
  }
  const lastSpeechMediaMs = clock.mediaMs;
  const startMediaMs = Math.max(0, clock.mediaMs - onsetMs);
  update(draft, {
    voice: {
      ...voice,
      speaking: true,
      onsetMs: 0,
      runMs: onsetMs,
      lastSpeechMediaMs,
      lastSpeechAtMs: clock.atMs,
      pauseMs: Math.max(0, startMediaMs - voice.lastSpeechMediaMs),
    },
  });
  send(draft, "userStartedSpeaking", {
    type: "user_started_speaking",
    callTimestamp: formatDurationMs(startMediaMs),
  });
  takeSpeech(draft, onsetMs, draft.state.voice.pauseMs);
}

function continueVoice(draft: Draft, isSpeech: boolean): void {
  const { voice, clock } = draft.state;
  if (isSpeech) {
    update(draft, {
      voice: {
        ...voice,
        runMs: voice.runMs + FRAME_MS,
        lastSpeechMediaMs: clock.mediaMs,
        lastSpeechAtMs: clock.atMs,
      },
    });
    takeSpeech(draft, FRAME_MS, 0);
    return;
  }
  if (clock.mediaMs - voice.lastSpeechMediaMs < DROPOUT_MS) {
    if (seemsOver(draft.state)) updateTurn(draft, { kind: "pausing" });
    return;
  }
  update(draft, { voice: { ...voice, speaking: false, onsetMs: 0 } });
  send(draft, "userStoppedSpeaking", {
    type: "user_stopped_speaking",
    callTimestamp: formatDurationMs(voice.lastSpeechMediaMs),
  });
  if (draft.state.turn.kind === "speaking") updateTurn(draft, { kind: "pausing" });
}

/** Speech belongs to the open utterance, resumes one that paused for `pauseMs`, or opens one. */
function takeSpeech(draft: Draft, speechMs: number, pauseMs: number): void {
  const { turn } = draft.state;
  if (turn.kind === "quiet") {
    openTurn(draft, speechMs);
    return;
  }
  if (turn.forced) return;
  if (turn.kind !== "speaking") resumeTurn(draft, turn, pauseMs);
  const clear = turn.clear || draft.state.voice.origin === "user";
  updateTurn(draft, { speechMs: turn.speechMs + speechMs, clear });
}

function openTurn(draft: Draft, speechMs: number): void {
  const { clock, reply, voice } = draft.state;
  const open = reply?.committed === true && reply.playout === "open";
  const fresh = open && (!reply.begun || clock.atMs - reply.startedAtMs < CUT_OFF_MS);
  const cutOff = fresh && draft.state.inputs.received > 0 && voice.pauseMs <= CUT_OFF_PAUSE_MAX_MS;
  const utteranceId = nextId(draft, "utterance");
  emit(draft, { type: "openUtterance", utteranceId, prerollMs: PREROLL_MS });
  const turn: UserTurn = {
    kind: "speaking",
    utteranceId,
    startMediaMs: Math.max(0, clock.mediaMs - speechMs),
    startAtMs: Math.max(0, clock.atMs - speechMs),
    speechMs,
    revision: 0,
    request: "idle",
    attempts: 0,
    transcript: null,
    partial: "",
    interrupts: null,
    confirmed: false,
    long: false,
    clear: voice.origin === "user",
    cleared: false,
    forced: false,
    earlyRequests: 0,
    speculations: 0,
    refunds: 0,
    overAgent: isOverAgent(draft.state),
    cutOffAfterMs: cutOff ? voice.pauseMs : null,
    judgements: [],
    judging: null,
    asksPatience: false,
  };
  update(draft, { turn });
}

/** What was transcribed so far is out of date: the next request covers the whole utterance. */
function resumeTurn(draft: Draft, turn: UserTurn, pauseMs: number): void {
  const partial = turn.transcript !== null && hasWords(turn) ? turn.transcript.text : turn.partial;
  learnPause(draft, pauseMs, turn.judgements);
  const dropped = draft.state.reply?.committed === false;
  updateTurn(draft, {
    kind: "speaking",
    request: "idle",
    attempts: 0,
    transcript: null,
    partial,
    judgements: [],
    judging: null,
    asksPatience: false,
    refunds: turn.refunds + (dropped ? 1 : 0),
  });
  dropSpeculation(draft);
}

/**
 * Milliseconds of received media since the last speech; 0 while the user speaks. What may become speech is no silence.
 */
export function silenceMs({ voice }: CallState): number {
  return voice.speaking ? 0 : voice.frameMediaMs - voice.lastSpeechMediaMs - voice.onsetMs;
}

/** Requests the transcript, and ends the turn when silence, transcript and turn detectors allow it. */
export function settleTurn(draft: Draft): void {
  const { turn } = draft.state;
  if (turn.kind === "pausing") settlePause(draft, turn);
  const ended = draft.state.turn;
  if (ended.kind === "ended" && ended.transcript !== null) endTurn(draft, ended);
}

function settlePause(draft: Draft, turn: UserTurn): void {
  const { stage, plan } = draft.state;
  const { turnEndpointDelayMs, minimumTurnDurationMs } = stage.vad;
  if (isNoTurn(draft, turn)) return;
  const silence = silenceMs(draft.state);
  if (turn.speechMs < minimumTurnDurationMs) {
    if (silence >= leastWaitMs(draft.state)) dropTurn(draft, "shorter than a turn");
    return;
  }
  // While the agent is held back, every moment before the words are known is silence on the line.
  const held = turn.interrupts !== null && !turn.confirmed;
  const askMs = held ? 0 : Math.min(plan.turnTaking.speculationDelayMs, turnEndpointDelayMs);
  if (turn.request === "idle" && (silence >= askMs || seemsOver(draft.state))) {
    const isEarly = silence < askMs;
    requestTranscript(draft, isEarly ? updateTurn(draft, { earlyRequests: turn.earlyRequests + 1 }) : turn);
  }
  const now = draft.state.turn;
  if (now.kind === "pausing" && silence >= endpointMs(draft.state, now, hasWords(now) || isDoubtful(now))) {
    updateTurn(draft, { kind: "ended" });
  }
}

/** Drops what is known to be no turn before its silence is long enough, so that a held reply goes on at once. */
function isNoTurn(draft: Draft, turn: UserTurn): boolean {
  if (turn.transcript === null || turn.confirmed || turn.forced) return false;
  if (!hasWords(turn)) {
    if (turn.interrupts === null && turn.clear) return false;
    dropTurn(draft, "nothing understood");
    return true;
  }
  const meaning = meaningOf(draft.state, turn, turn.transcript.text);
  if (meaning !== "echo" && meaning !== "listening") return false;
  dropTurn(draft, meaning === "echo" ? "the agent's own words" : "a sign of listening");
  return true;
}

function requestTranscript(draft: Draft, turn: UserTurn): void {
  const revision = turn.revision + 1;
  updateTurn(draft, { revision, request: "asked", attempts: turn.attempts + 1 });
  emit(draft, { type: "requestTranscript", utteranceId: turn.utteranceId, revision });
}

function endTurn(draft: Draft, turn: UserTurn): void {
  if (isNoTurn(draft, turn)) return;
  if (hasWords(turn)) {
    acceptTurn(draft, turn, turn.transcript?.text ?? "");
    return;
  }
  if (isDoubtful(turn)) dropTurn(draft, "nothing understood");
  else acceptTurn(draft, turn, null);
}

/** `text` null: speech that was not understood; the model gets a note, and asks again. */
function acceptTurn(draft: Draft, turn: UserTurn, text: string | null): void {
  const { voice, clock } = draft.state;
  const contextVersion = draft.state.history.version;
  if (text === null) {
    addNotUnderstood(draft, turn.utteranceId);
    recordNotUnderstood(draft, turn);
  } else keepWords(draft, turn, text);
  closeTurn(draft, turn);
  noteUserActivity(draft);
  if (turn.cutOffAfterMs === null) forgetPause(draft);
  else if (text !== null) learnPause(draft, turn.cutOffAfterMs, []);
  noteInput(draft, {
    turn: {
      turnId: nextId(draft, "turn"),
      speechEndAtMs: voice.lastSpeechAtMs,
      endOfTurnAtMs: clock.atMs,
      transcriptAtMs: turn.transcript?.atMs ?? null,
    },
  });
  debug(draft, `utterance ${turn.utteranceId}: end of turn`);
  passOpening(draft);
  commitReply(draft, text, turn.utteranceId, contextVersion);
}

function keepWords(draft: Draft, turn: UserTurn, text: string): void {
  const { voice } = draft.state;
  showUserText(draft, text, "voice");
  addUserMessage(draft, {
    text,
    medium: "voice",
    startMediaMs: turn.startMediaMs,
    startAtMs: turn.startAtMs,
    endMediaMs: voice.lastSpeechMediaMs,
    endAtMs: voice.lastSpeechAtMs,
    utteranceId: turn.utteranceId,
  });
}

/** Not a turn after all. */
function dropTurn(draft: Draft, why: string): void {
  const { turn } = draft.state;
  if (turn.kind === "quiet") return;
  closeTurn(draft, turn);
  dropSpeculation(draft);
  debug(draft, `utterance ${turn.utteranceId}: no turn, ${why}`);
}

function closeTurn(draft: Draft, turn: UserTurn): void {
  emit(draft, { type: "abandonUtterance", utteranceId: turn.utteranceId });
  update(draft, { turn: QUIET });
  forgetFailures(draft, "stt");
}

/** The conversation is over: known words are recorded, although they will not be answered. */
export function breakOffTurn(draft: Draft): void {
  const { turn } = draft.state;
  if (turn.kind === "quiet") return;
  if (hasWords(turn)) keepWords(draft, turn, turn.transcript?.text ?? "");
  closeTurn(draft, turn);
  dropSpeculation(draft);
}

export function onTranscriptUpdated(draft: Draft, event: EventOf<"transcriptUpdated">): void {
  const { turn } = draft.state;
  if (turn.kind === "quiet" || turn.utteranceId !== event.utteranceId || !isSpeakable(event.text)) return;
  updateTurn(draft, { partial: event.text.slice(0, TRANSCRIPT_MAX_CHARS) });
}

export function onTranscriptFinished(draft: Draft, event: EventOf<"transcriptFinished">): void {
  const { turn, clock } = draft.state;
  if (turn.kind === "quiet" || turn.utteranceId !== event.utteranceId) return;
  noteSuccess(draft, "stt");
  const text = event.text.trim().slice(0, TRANSCRIPT_MAX_CHARS);
  const current =
    event.revision === turn.revision && (turn.request === "asked" || turn.request === "retrying");
  if (!current) {
    // Of speech that went on meanwhile: it shows that there are words, not which they are in the end.
    if (event.understood && isSpeakable(text)) updateTurn(draft, { partial: text });
    return;
  }
  updateTurn(draft, {
    request: "answered",
    transcript: { text, understood: event.understood, atMs: clock.atMs },
  });
  const answered = draft.state.turn;
  // The silence was long enough for words that were still unknown; whether it is for these is decided again.
  if (answered.kind === "ended" && !answered.forced) updateTurn(draft, { kind: "pausing" });
  askJudges(draft);
}

export function onTranscriptFailed(draft: Draft, event: EventOf<"transcriptFailed">): void {
  const { turn } = draft.state;
  if (turn.kind === "quiet" || turn.utteranceId !== event.utteranceId) return;
  if (turn.request !== "asked" || turn.revision !== event.revision) return;
  failTranscript(draft, event.error, event.exhausted === true);
  if (event.permanent === true) markLost(draft, "stt");
}

/** `isUnanswered`: no recogniser has answered, so the agent asks the user to wait. */
function failTranscript(draft: Draft, error: string, isUnanswered: boolean): void {
  noteFailure(draft, "stt", error);
  updateTurn(draft, { request: "retrying", ...(isUnanswered ? { asksPatience: true } : {}) });
}

export function turnTimers({ turn, plan }: CallState): WantedTimers {
  if (turn.kind === "quiet") return {};
  const { maximumTurnMs, transcriptTimeoutMs, engineRetryDelayMs } = plan.turnTaking;
  const key = `${turn.utteranceId}:${turn.revision}`;
  return {
    turnLimit: turn.forced ? null : { key: `${turn.utteranceId}`, delayMs: maximumTurnMs },
    // From the request on, not from the end of the turn: a caller who keeps going on would hide a recogniser that
    // hangs.
    transcript: turn.request === "asked" ? { key, delayMs: transcriptTimeoutMs } : null,
    transcriptRetry: turn.request === "retrying" ? { key, delayMs: engineRetryDelayMs } : null,
  };
}

/** The turn is too long, or no window arrived to end it: it ends by force, with whatever it has. */
export function onTurnLimitTimer(draft: Draft): void {
  const { turn } = draft.state;
  if (turn.kind === "quiet") return;
  const forced = updateTurn(draft, { kind: "ended", forced: true });
  if (forced.request === "idle") requestTranscript(draft, forced);
}

export function onTranscriptTimer(draft: Draft): void {
  const { transcriptTimeoutMs } = draft.state.plan.turnTaking;
  failTranscript(draft, `no transcript within ${transcriptTimeoutMs} ms`, true);
}

export function onTranscriptRetryTimer(draft: Draft): void {
  const { turn } = draft.state;
  if (turn.kind !== "quiet" && turn.request === "retrying") requestTranscript(draft, turn);
}
