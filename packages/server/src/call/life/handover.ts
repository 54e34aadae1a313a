/**
 * Another process is to continue the call, and this one gives it up in order: at the end of the sentence and of the
 * user's turn, without beginning anything new. Rules R156 to R159 and R169 to R173 of SPEC.md.
 */

import { send } from "../call-events.ts";
import { emit, update, updateReply, type Draft } from "../draft.ts";
import type { EventOf } from "../events.ts";
import { isReplyDue, noteInput } from "../reply/reply.ts";
import type { CallState, Reply, Segment } from "../state.ts";
import { cancelAllTimers, type WantedTimers } from "../timers.ts";
import { callsOf } from "../tools/round.ts";
import { isTransferring } from "../tools/transfers.ts";
import { breakOffTurn } from "../turn/turn.ts";
import { keepDigits } from "./digits.ts";
import type { Handover } from "./handover-state.ts";
import { isHandingOver, lastSentence } from "./handing-over.ts";

/** A second request counts with its own limit. The sentence stays that of the first. */
export function onHandoverRequested(draft: Draft, { limitMs }: EventOf<"handoverRequested">): void {
  const { reply, handover } = draft.state;
  const last = handover === undefined ? spokenSentence(reply) : handover.last;
  update(draft, { handover: { limitMs, last, isReady: false } });
  if (handover === undefined && reply !== null) dropAfter(draft, reply, last?.segmentId ?? 0);
}

/** Nothing after this sentence is to be heard, nor requested from the voice. */
function dropAfter(draft: Draft, { replyId, medium, purpose, playout, segments }: Reply, last: number): void {
  const isOpen = playout === "open" || playout === "paused";
  if (!isOpen || medium === "text" || purpose === "tones") return;
  const isDropped = (one: Segment) => one.segmentId > last && one.status !== "played";
  updateReply(draft, {
    segments: segments.map((one) => (isDropped(one) ? { ...one, status: "waiting" } : one)),
  });
  emit(draft, { type: "limitPlayout", replyId, segmentId: last });
}

/** Audio of it has arrived, and nothing holds it back: it is heard now, or within a frame. */
function spokenSentence(reply: Reply | null): Handover["last"] {
  if (reply === null || reply.medium === "text") return null;
  const { replyId, playout, segments } = reply;
  if (playout !== "open" && playout !== "paused") return null;
  const head = segments.find(({ status }) => status !== "played");
  const isSpoken = head?.status === "sounding" || head?.status === "synthesized";
  return isSpoken ? { replyId, segmentId: head.segmentId } : null;
}

/** Gives the call up once nothing of it would be cut. Called once a step, when the state has settled. */
export function settleHandover(draft: Draft): void {
  const { state } = draft;
  if (isHandingOver(state) && state.handover?.isReady === false && isAtRest(state)) giveUpCall(draft);
}

/** The limit has passed: what is being said is cut. A transfer has no other process that could finish it. */
export function onHandoverTimer(draft: Draft): void {
  if (isHandingOver(draft.state) && !isTransferring(draft.state)) giveUpCall(draft);
}

export function handoverTimers(state: CallState): WantedTimers {
  const { handover } = state;
  if (handover === undefined || !isHandingOver(state)) return {};
  return { handover: { key: String(handover.limitMs), delayMs: handover.limitMs } };
}

function isAtRest(state: CallState): boolean {
  const { connection, turn, reply } = state;
  if (isTransferring(state)) return false;
  // Nobody hears a call that is not connected, and nobody speaks in it.
  if (connection.kind === "connected") {
    if (turn.kind !== "quiet" || state.voice.speaking) return false;
    if (reply !== null && isBeingSaid(state, reply)) return false;
  }
  return !isToolAwaited(state);
}

function isBeingSaid(state: CallState, reply: Reply): boolean {
  const { replyId, medium, playout, purpose, segments, begun } = reply;
  // The rest of a text is a matter of moments.
  if (medium === "text") return begun;
  if (playout === "cutting") return true;
  if (playout === "closed") return false;
  if (purpose === "tones") return true;
  const last = lastSentence(state, replyId);
  return last !== null && segments.some(({ segmentId, status }) => segmentId <= last && status !== "played");
}

/** Its outcome would be unknown to the other process. The user does not wait for it while there is something to say. */
function isToolAwaited(state: CallState): boolean {
  const isMoreToSay = state.reply !== null || isReplyDue(state) || state.forced.length > 0;
  if (state.toolRound === null && isMoreToSay) return false;
  return callsOf(state).some(
    ({ progress: { kind } }) => kind === "running" || kind === "staging" || kind === "sounding",
  );
}

function giveUpCall(draft: Draft): void {
  keepDigits(draft);
  const { history } = draft.state;
  breakOffTurn(draft);
  // Words that were known when the limit passed are answered by the other process.
  if (draft.state.history.version !== history.version) noteInput(draft, {});
  const { reply, handover } = draft.state;
  if (
    reply !== null &&
    reply.medium === "voice" &&
    reply.playout !== "closed" &&
    reply.playout !== "cutting"
  ) {
    // A client that buffers audio has sentences that will be said again.
    emit(draft, { type: "clearPlayout", replyId: reply.replyId });
    if (reply.begun) send(draft, "playbackClearBuffer", { type: "playback_clear_buffer" });
  }
  if (handover !== undefined) update(draft, { handover: { ...handover, isReady: true } });
  cancelAllTimers(draft);
  emit(draft, { type: "handOver" });
}
