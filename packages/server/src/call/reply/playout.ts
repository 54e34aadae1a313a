/**
 * From the text of a reply to what is heard: cutting, synthesis ahead, playout positions, and cutting a reply off.
 * Rules R15 and R18 to R20 of SPEC.md.
 */

import { send } from "../call-events.ts";
import { emit, update, updateReply, type Draft } from "../draft.ts";
import { noteFailure, noteSuccess } from "../life/engines.ts";
import { isHandingOver, lastSentence } from "../life/handing-over.ts";
import type { EventOf } from "../events.ts";
import { cutSegments, isSpeakable, newSegment } from "./segment.ts";
import type { CallState, CutCause, Reply, Segment } from "../state.ts";
import { changeSegment, failSegment, noteVoiceFailure, synthesize } from "./synthesis.ts";
import { pumpText } from "./text-output.ts";
import type { WantedTimers } from "../timers.ts";
import { callsStand, dropCalls, passCalls } from "../tools/round.ts";
import { closeTranscript, heardText, isFull, replyText, showHeardWords } from "../history/transcript.ts";
import { CONTINUATIONS_MAX, keepUnheard } from "./unheard.ts";
import { recordInterruption, recordLatency } from "../turn/turn-record.ts";
import { noteAgentActivity } from "../turn/user-activity.ts";

/** Segments at the voice or in the playout buffer, the one being heard included: about a minute of audio at most. */
export const SEGMENTS_AHEAD = 3;
/** A speculative reply is thrown away often; one segment in hand and one coming is enough to speak at once. */
export const SPECULATIVE_SEGMENTS_AHEAD = 2;
/** A bound on bookkeeping: at the shortest sensible sentences this is a quarter of an hour of talk. */
export const SEGMENTS_PER_REPLY = 300;
/** The runner answers `clearPlayout` within a frame or two; without an answer the last known position counts. */
export const CUT_ANSWER_MS = 1_000;
/** No playout event for this long, beyond the segment's own length: nothing is coming out, so the reply is cut. */
export const PLAYOUT_STALL_MS = 5_000;
/** Advances the reply of the slot: text to segments, segments to the voice, audio to playout. */
export function pumpReply(draft: Draft): void {
  const { reply } = draft.state;
  if (reply === null || reply.playout === "cutting") return;
  if (reply.medium === "text") pumpText(draft, begin);
  else {
    cutText(draft, reply);
    synthesizeAhead(draft);
    steerPlayout(draft);
  }
  if (isOver(draft.state.reply)) closeReply(draft);
}

function cutText(draft: Draft, reply: Reply): void {
  if (reply.buffer === "") return;
  const last = reply.generation !== "running" || isFull(draft.state, reply);
  const { segments, rest } = cutSegments(reply.buffer, { first: reply.segments.length === 0, last });
  const room = SEGMENTS_PER_REPLY - reply.segments.length;
  const fresh = segments.slice(0, room).map((segment) => newSegment(draft, { ...segment, tones: null }));
  if (fresh.length === 0 && rest === reply.buffer && segments.length === 0) return;
  updateReply(draft, {
    segments: [...reply.segments, ...fresh],
    buffer: segments.length > room ? "" : rest,
    times: { ...reply.times, firstSentence: reply.times.firstSentence ?? draft.state.clock.atMs },
  });
}

function synthesizeAhead(draft: Draft): void {
  const { reply } = draft.state;
  if (reply === null) return;
  const limit = reply.committed ? SEGMENTS_AHEAD : SPECULATIVE_SEGMENTS_AHEAD;
  let ahead = reply.segments.filter(({ status }) => status !== "waiting" && status !== "played").length;
  const last = isHandingOver(draft.state) ? (lastSentence(draft.state, reply.replyId) ?? -1) : Infinity;
  for (const segment of reply.segments) {
    if (ahead >= limit || (segment.segmentId > last && reply.purpose !== "tones")) return;
    if (segment.status !== "waiting") continue;
    synthesize(draft, segment, false);
    ahead += 1;
  }
}

/** Playout is open while nothing holds it: neither the user's speech nor a lost transport. */
function steerPlayout(draft: Draft): void {
  const { reply, connection, clock } = draft.state;
  if (reply === null || !reply.committed) return;
  const { replyId } = reply;
  const held = reply.heldBy !== null || connection.kind === "lost";
  if (held && reply.playout === "open") {
    updateReply(draft, { playout: "paused" });
    emit(draft, { type: "pausePlayout", replyId });
    if (reply.begun && reply.heldBy !== null)
      send(draft, "playbackClearBuffer", { type: "playback_clear_buffer" });
  }
  if (held || reply.playout === "open") return;
  if (reply.playout === "closed" && reply.purpose !== "tones" && isHandingOver(draft.state)) return;
  updateReply(draft, { playout: "open", lastPlayoutAtMs: clock.atMs });
  emit(draft, { type: reply.playout === "closed" ? "speak" : "resumePlayout", replyId });
}

function isOver(reply: Reply | null): boolean {
  if (reply === null || !reply.committed || reply.generation === "running" || reply.buffer !== "")
    return false;
  // Speech over a reply of calls alone may still take them back.
  if (reply.calls.length > 0 && reply.heldBy !== null) return false;
  return reply.segments.every(({ status }) => status === "played");
}

/**
 * Cuts a reply off. One whose playout was never opened is dropped at once; otherwise the answer to `clearPlayout`
 * says what was heard, and until then the slot stays taken.
 */
export function cutReply(draft: Draft, cutBy: CutCause): void {
  const { reply } = draft.state;
  if (reply === null || reply.playout === "cutting") return;
  const { replyId } = reply;
  emit(draft, { type: "abortReply", replyId });
  if (reply.playout === "closed") {
    if (reply.segments.some(({ status }) => status !== "waiting"))
      emit(draft, { type: "clearPlayout", replyId });
    keepUnheard(draft, { ...reply, cutBy }, "");
    passCalls(draft, { ...reply, cutBy });
    update(draft, { reply: null });
    return;
  }
  if (!callsStand({ ...reply, cutBy })) dropCalls(draft, reply);
  if (reply.medium === "text") {
    updateReply(draft, { cutBy });
    closeReply(draft);
    return;
  }
  emit(draft, { type: "clearPlayout", replyId });
  if (reply.playout === "open" && reply.begun) {
    send(draft, "playbackClearBuffer", { type: "playback_clear_buffer" });
  }
  updateReply(draft, { playout: "cutting", cutBy, heldBy: null });
}

/** Frees the slot: transcript and message are finished with what was heard. */
export function closeReply(draft: Draft): void {
  const { reply } = draft.state;
  if (reply === null) return;
  const whole =
    reply.generation !== "running" && reply.buffer === "" && heardText(reply) === replyText(reply);
  const text = closeTranscript(draft, !whole);
  const { cutBy, purpose, generation } = reply;
  if (reply.begun && !whole && cutBy !== null && cutBy !== "end") recordInterruption(draft, reply, text);
  // The request of a reply that failed or grew too long may still be running.
  const excess = isFull(draft.state, reply);
  if (cutBy === null && (generation === "failed" || excess)) {
    emit(draft, { type: "abortReply", replyId: reply.replyId });
  }
  if (cutBy === null) answer(draft, reply);
  // One in text may begin and end within a step.
  if (reply.begun) noteAgentActivity(draft);
  const broke = cutBy === "failure" || (cutBy === null && generation === "failed");
  if (broke && reply.begun && (purpose === "answer" || purpose === "opening"))
    continueLater(draft, reply, text);
  keepUnheard(draft, reply, text);
  passCalls(draft, reply);
  update(draft, { reply: null });
}

/** The rest of a fixed opening is known; the model continues anything else. */
function continueLater(draft: Draft, reply: Reply, heard: string): void {
  const { inputs, opening } = draft.state;
  if (inputs.continuations >= CONTINUATIONS_MAX) return;
  const continuations = inputs.continuations + 1;
  if (reply.purpose === "opening" && opening.text !== null) {
    const rest = (replyText(reply) + reply.buffer).slice(heard.length).trim();
    if (isSpeakable(rest)) update(draft, { opening: { ...opening, kind: "due", text: rest } });
    update(draft, { inputs: { ...inputs, continuations } });
    return;
  }
  // Something newer is due, and its answer replaces a continuation.
  if (inputs.received > inputs.answered) return;
  update(draft, { inputs: { ...inputs, received: inputs.received + 1, continuation: true, continuations } });
}

/** What the reply covers is answered, and a planned opening is over. */
function answer(draft: Draft, reply: Reply): void {
  const { inputs, opening } = draft.state;
  if (reply.purpose === "opening") update(draft, { opening: { ...opening, kind: "none" } });
  update(draft, {
    inputs: {
      ...inputs,
      answered: Math.max(inputs.answered, reply.covers),
      answeredIndex: Math.max(inputs.answeredIndex, reply.coversIndex),
      continuation: false,
    },
  });
}

/** The first sound of a reply: from here on it counts as said. */
function begin(draft: Draft): void {
  const { reply, clock } = draft.state;
  if (reply === null) return;
  updateReply(draft, { lastPlayoutAtMs: clock.atMs });
  if (reply.begun) return;
  updateReply(draft, { begun: true, startedMediaMs: clock.mediaMs, startedAtMs: clock.atMs });
  answer(draft, reply);
  // Text alone proves nothing: a model that breaks off before its first sentence is heard has not worked.
  if (reply.receivedChars > 0) noteSuccess(draft, "llm");
  recordLatency(draft, reply);
}

/** The segment of an event, or null when reply or segment are no longer known. */
function segmentOf(draft: Draft, event: { readonly replyId: number; readonly segmentId: number | null }) {
  const { reply } = draft.state;
  if (reply === null || reply.replyId !== event.replyId) return null;
  return reply.segments.find(({ segmentId }) => segmentId === event.segmentId) ?? null;
}

/** The same while the voice still works on it; events of a reply that is being cut no longer count. */
function rendering(draft: Draft, event: { readonly replyId: number; readonly segmentId: number }) {
  if (draft.state.reply?.playout === "cutting") return null;
  const segment = segmentOf(draft, event);
  return segment?.status === "requested" || segment?.status === "sounding" ? segment : null;
}

export function onSegmentAudio(draft: Draft, event: EventOf<"segmentAudioReceived">): void {
  const segment = rendering(draft, event);
  if (segment?.status !== "requested") return;
  const { clock, reply } = draft.state;
  changeSegment(draft, segment.segmentId, { status: "sounding" });
  if (reply === null) return;
  const firstAudio = reply.times.firstAudio ?? clock.atMs;
  updateReply(draft, { lastPlayoutAtMs: clock.atMs, times: { ...reply.times, firstAudio } });
  if (!segment.silent && event.prepared !== true) noteSuccess(draft, "tts");
}

export function onSegmentSynthesized(draft: Draft, event: EventOf<"segmentSynthesized">): void {
  const segment = rendering(draft, event);
  if (segment === null) return;
  if (event.durationMs <= 0 && !segment.silent) {
    failSegment(draft, segment, { error: "the voice gave no audio" });
    return;
  }
  changeSegment(draft, segment.segmentId, { status: "synthesized", durationMs: event.durationMs });
  updateReply(draft, { lastPlayoutAtMs: draft.state.clock.atMs });
  if (!segment.silent && event.prepared !== true) noteSuccess(draft, "tts");
}

export function onSegmentFailed(draft: Draft, event: EventOf<"segmentFailed">): void {
  const segment = rendering(draft, event);
  if (segment === null) return;
  if (event.receivedMs <= 0) {
    failSegment(draft, segment, event);
    return;
  }
  // What has arrived is played; a retry would say its words twice.
  changeSegment(draft, segment.segmentId, { status: "synthesized", durationMs: event.receivedMs });
  noteVoiceFailure(draft, segment, event.error, event.permanent);
}

export function onPlayout(
  draft: Draft,
  event: EventOf<"segmentPlayoutStarted" | "segmentPlayoutAdvanced" | "segmentPlayoutFinished">,
): void {
  const segment = segmentOf(draft, event);
  const playout = draft.state.reply?.playout;
  if (segment === null || (playout !== "open" && playout !== "paused")) return;
  update(draft, { agentHeardAtMs: draft.state.clock.atMs });
  begin(draft);
  // A segment starts when it is sent, while the client may still hold half a minute of those before it.
  if (event.type !== "segmentPlayoutStarted") passEarlier(draft, segment.segmentId);
  if (event.type === "segmentPlayoutFinished") changeSegment(draft, segment.segmentId, { status: "played" });
  if (event.type === "segmentPlayoutAdvanced") hear(draft, segment, event.heardChars, event.playedMs);
  showHeardWords(draft);
}

/** Segments play in order, so the earlier ones are over even without an event. */
function passEarlier(draft: Draft, segmentId: number): void {
  const segments = draft.state.reply?.segments ?? [];
  if (!segments.some((earlier) => earlier.segmentId < segmentId && earlier.status !== "played")) return;
  updateReply(draft, {
    segments: segments.map((earlier) =>
      earlier.segmentId < segmentId ? { ...earlier, status: "played" } : earlier,
    ),
  });
}

function hear(draft: Draft, segment: Segment, heardChars: number, playedMs = segment.playedMs): void {
  if (segment.status === "played" || heardChars <= segment.heardChars) return;
  changeSegment(draft, segment.segmentId, {
    heardChars: Math.min(heardChars, segment.text.length),
    playedMs: Math.max(playedMs, segment.playedMs),
  });
}

/** Where playout stopped; after `clearPlayout` the reply ends there. */
export function onPlayoutStopped(draft: Draft, event: EventOf<"playoutPaused" | "playoutCleared">): void {
  const { reply } = draft.state;
  if (reply === null || reply.replyId !== event.replyId || reply.playout === "closed") return;
  const segment = segmentOf(draft, event);
  if (segment !== null) {
    update(draft, { agentHeardAtMs: draft.state.clock.atMs });
    begin(draft);
    passEarlier(draft, segment.segmentId);
    hear(draft, segment, event.heardChars);
    showHeardWords(draft);
  }
  if (event.type === "playoutCleared" && reply.playout === "cutting") closeReply(draft);
}

/** The first segment that is not over; a stalled voice or playout is detected there. */
function headSegment(reply: Reply): Segment | null {
  return reply.segments.find(({ status }) => status !== "played") ?? null;
}

/** The segment whose first audio is awaited: those before it have arrived, so the voice has no other work. */
function awaitedSegment(reply: Reply): Segment | null {
  const open = reply.segments.find(({ status }) => status !== "played" && status !== "synthesized");
  return open?.status === "requested" ? open : null;
}

function playoutLimitMs(head: Segment): number {
  return PLAYOUT_STALL_MS + head.durationMs;
}

export function playoutTimers(state: CallState): WantedTimers {
  const { reply, clock, plan } = state;
  if (reply === null) return {};
  if (reply.playout === "cutting") return { cut: { key: `${reply.replyId}`, delayMs: CUT_ANSWER_MS } };
  const awaited = awaitedSegment(reply);
  const head = headSegment(reply);
  const heard = reply.playout === "open" && (head?.status === "sounding" || head?.status === "synthesized");
  return {
    synthesis: awaited && {
      key: `${awaited.segmentId}:${awaited.attempts}:${awaited.voice?.kind ?? ""}`,
      delayMs: plan.turnTaking.synthesisTimeoutMs,
    },
    playout:
      head !== null && heard
        ? {
            key: `${head.segmentId}:${head.status}:${reply.stallChecks}`,
            delayMs: playoutLimitMs(head) - (clock.atMs - reply.lastPlayoutAtMs),
          }
        : null,
  };
}

export function onSynthesisTimer(draft: Draft): void {
  const { reply, plan } = draft.state;
  const awaited = reply && awaitedSegment(reply);
  if (awaited) {
    const error = `no audio within ${plan.turnTaking.synthesisTimeoutMs} ms`;
    failSegment(draft, awaited, { error });
  }
}

export function onPlayoutTimer(draft: Draft): void {
  const { reply, clock } = draft.state;
  const head = reply && headSegment(reply);
  if (reply === null || !head) return;
  if (clock.atMs - reply.lastPlayoutAtMs < playoutLimitMs(head)) {
    updateReply(draft, { stallChecks: reply.stallChecks + 1 });
    return;
  }
  noteFailure(draft, "tts", "the audio of a reply stopped coming", "error");
  cutReply(draft, "failure");
}
