/**
 * Shutdown of a call: last words if there are any, and then exactly one `endCall`.
 * Rules R1, R31 to R33, R35 and R36 of SPEC.md.
 */

import type { EndReason } from "@parley/schema";
import { recordEvent } from "../call-events.ts";
import { emit, update, type Draft } from "../draft.ts";
import { closeReply, cutReply } from "../reply/playout.ts";
import { startReply } from "../reply/reply.ts";
import { isSpeakable } from "../reply/segment.ts";
import { sentencesFor } from "../sentences.ts";
import type { CallState, Parting } from "../state.ts";
import { keepDigits } from "./digits.ts";
import { hasSpareSpeech } from "./engines.ts";
import { endThreads } from "../threads/end-threads.ts";
import { cancelAllTimers, type WantedTimers } from "../timers.ts";
import { breakOffRound } from "../tools/round.ts";
import { isTransferring, TRANSFER_RETURN_LIMIT_MS } from "../tools/transfers.ts";
import { breakOffTurn } from "../turn/turn.ts";

/** Close codes, for transports that have them. */
export const CLOSE_REGULAR = 1000;
export const CLOSE_FAILURE = 1011;
export const CLOSE_MEDIA_IDLE = 4408;

/** An apology must not prolong a broken call: the end still comes within five seconds of its cause. */
export const APOLOGY_LIMIT_MS = 4_000;

/** Ends the call now. The agent's message is closed with what was heard, known words of the user are recorded. */
export function endCall(draft: Draft, reason: EndReason, closeCode: number, detail: string | null): void {
  if (draft.state.phase.kind === "ended") return;
  keepDigits(draft);
  breakOffTurn(draft);
  const { reply } = draft.state;
  if (reply !== null) {
    if (reply.playout !== "cutting") emit(draft, { type: "abortReply", replyId: reply.replyId });
    update(draft, { reply: { ...reply, cutBy: "end" } });
    closeReply(draft);
  }
  endThreads(draft, "call_ended");
  breakOffRound(draft);
  cancelAllTimers(draft);
  const text = detail === null ? `the call ended: ${reason}` : `the call ended: ${reason}, ${detail}`;
  recordEvent(draft, { severity: "info", type: "call.ended", text, extras: { reason } }, true);
  update(draft, { phase: { kind: "ended", reason } });
  emit(draft, {
    type: "endCall",
    reason,
    closeCode,
    detail,
  });
}

/** Cuts what is being said and says the last words; from here on user speech is ignored. */
export function beginParting(draft: Draft, parting: Parting): void {
  if (draft.state.phase.kind !== "live") return;
  keepDigits(draft);
  breakOffTurn(draft);
  cutReply(draft, "end");
  const speaks =
    parting.text !== null && isSpeakable(parting.text) && draft.state.connection.kind === "connected";
  if (!speaks) {
    endCall(draft, parting.reason, parting.closeCode, parting.detail);
    return;
  }
  update(draft, { phase: { kind: "parting", ...parting } });
}

/** Says the last words once the slot is free, and ends the call once they are heard. */
export function settleParting(draft: Draft): void {
  const { phase, reply, inputs } = draft.state;
  if (phase.kind !== "parting" || reply !== null) return;
  if (phase.text === null) {
    endCall(draft, phase.reason, phase.closeCode, phase.detail);
    return;
  }
  const { text } = phase;
  update(draft, { phase: { ...phase, text: null } });
  startReply(draft, { purpose: "parting", text, uninterruptible: true, covers: inputs.answered });
}

/** An engine is lost: a short apology if the voice still works or has said it before, then the end. */
export function giveUp(draft: Draft, detail: string): void {
  const { phase, engines, stage, outputMedium } = draft.state;
  const works = engines.tts.failingSinceMs === null;
  const voiced = outputMedium === "text" || works || hasSpareSpeech(draft.state);
  const parting = {
    reason: "system_error",
    closeCode: CLOSE_FAILURE,
    detail,
    text: voiced ? sentencesFor(stage.languageHint).apology : null,
    limitMs: APOLOGY_LIMIT_MS,
  } as const;
  if (phase.kind === "live") beginParting(draft, parting);
  else if (phase.kind !== "parting") endCall(draft, parting.reason, parting.closeCode, detail);
}

export function settleLostEngines(draft: Draft): void {
  const { engines, phase, outputMedium } = draft.state;
  // Last words without a listener are not awaited; an apology that was rendered before needs no voice.
  const isHeard = hasSpareSpeech(draft.state) && phase.kind === "parting" && phase.reason === "system_error";
  if (engines.tts.lost && outputMedium === "voice" && !isHeard) endParting(draft);
  if (phase.kind !== "live") return;
  if (engines.stt.lost) giveUp(draft, "speech recognition does not work");
  else if (engines.llm.lost) giveUp(draft, "the language model does not work");
  else if (engines.tts.lost) giveUp(draft, "the voice does not work");
}

/** The agent hangs up, with or without a last message, which is said to its end. */
export function hangUp(draft: Draft, message: string, detail: string | null = null): void {
  beginParting(draft, {
    reason: "agent_hangup",
    closeCode: CLOSE_REGULAR,
    detail,
    text: message,
    limitMs: draft.state.plan.turnTaking.farewellLimitMs,
  });
}

export function onMaxDurationTimer(draft: Draft): void {
  const { plan, stage } = draft.state;
  beginParting(draft, {
    reason: "timeout",
    closeCode: CLOSE_REGULAR,
    detail: null,
    text: stage.timeExceededMessage,
    limitMs: plan.turnTaking.partingLimitMs,
  });
}

/** The last words take too long: the call ends for its own reason, not for theirs. */
export function endParting(draft: Draft): void {
  const { phase } = draft.state;
  if (phase.kind === "parting") endCall(draft, phase.reason, phase.closeCode, phase.detail);
}

export function callTimers(state: CallState): WantedTimers {
  const { phase, clock, plan } = state;
  if (phase.kind === "waiting") {
    return { join: { key: "join", delayMs: plan.joinTimeoutMs - clock.atMs } };
  }
  if (phase.kind === "parting") return { parting: { key: "parting", delayMs: phase.limitMs } };
  if (phase.kind !== "live") return {};
  return {
    maxDuration: {
      key: "maxDuration",
      delayMs: plan.maxDurationMs - (clock.atMs - (clock.joinedAtMs ?? clock.atMs)),
    },
    reconnect: reconnectTimer(state),
  };
}

/** A transfer has its own limit; once it has failed, the medium brings the user back. */
function reconnectTimer(state: CallState): { readonly key: string; readonly delayMs: number } | null {
  const { connection, plan } = state;
  const { kind, losses, graceMs, inTransfer } = connection;
  if (kind === "connected") return null;
  if (inTransfer === undefined)
    return { key: `${losses}`, delayMs: graceMs ?? plan.turnTaking.reconnectGraceMs };
  return isTransferring(state) ? null : { key: `${losses} return`, delayMs: TRANSFER_RETURN_LIMIT_MS };
}
