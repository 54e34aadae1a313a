/**
 * Warm transfers in which the agent itself talks with the called person. The called person is dialled as a call of its
 * own, the caller waits in a conference of the carrier, and the tool waits until the two are connected or the attempt has
 * failed. The conversation decides by its tools, see `consultation-answers.ts`.
 */

import type { ToolOutcome } from "@parley/schema";
import {
  advanceTransfer,
  insertTransfer,
  readTransfer,
  type TransferState,
} from "../../store/telephony/call-transfers.ts";
import {
  abandon,
  failure,
  note,
  OPEN,
  settled,
  TRANSFER_LIMITS,
  type Attempt,
  type TransferDeps,
} from "./attempts.ts";
import { beginConsultation, consultationFailure, endConsultation, MACHINE } from "./consultations.ts";
import { partingSentences } from "./parting-sentences.ts";
import { transferUrlOf } from "./transfer-urls.ts";

/** Failures after which the caller is not on hold, in the words that the model gets. */
export const CALLER_GONE = "the caller has hung up";
export const HOLD_ENDED = "the carrier has ended the hold";
/** The beginning of what the called person has said by declining. */
export const DECLINED = "the called person did not take the call";
const NO_HOLD = "the carrier has not put the caller on hold";

interface Consulted extends Attempt {
  readonly consultCallId: string;
}

export async function consultedTransfer(
  deps: TransferDeps,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const begun = signal.aborted ? null : await beginConsultation(deps, attempt);
  if (begun === null) throw signal.reason;
  if ("problem" in begun) {
    deps.counted(attempt.carried.carrier, "refused");
    await note(deps, attempt, "telephony.failed", `the transfer was refused: ${begun.problem}`);
    return failure(begun.problem);
  }
  const { callId: consultCallId } = begun;
  const { gone, unconnected } = partingSentences(attempt.carried.languageHint);
  let parting: string | null = gone;
  try {
    const { state, reason, outcome } = await pursue(deps, { ...attempt, consultCallId }, signal);
    if (isEndedThere(state, reason)) parting = null;
    else if (reason !== CALLER_GONE) parting = reason === MACHINE ? "" : unconnected;
    return outcome;
  } finally {
    // Nobody waits for the called person any more.
    if (parting !== null) endConsultation(deps, consultCallId, parting);
  }
}

/** The conversation ends by its own tool, after its last words. */
function isEndedThere(state: TransferState, reason: string | null): boolean {
  return state === "connected" || (reason?.startsWith(DECLINED) ?? false);
}

interface Pursued {
  readonly state: TransferState;
  readonly reason: string | null;
  readonly outcome: ToolOutcome;
}

async function pursue(deps: TransferDeps, attempt: Consulted, signal: AbortSignal): Promise<Pursued> {
  const { db, carriers, publicUrl } = deps;
  const { transferId, accountId, callId, carried, consultCallId } = attempt;
  const { carrier, account, carrierCallId } = carried;
  await insertTransfer(db, accountId, { ...attempt, carrier, carrierCallId });
  const text = "the called person is dialled, and the caller is put on hold";
  await note(deps, attempt, "telephony.transferring", text, { consultCallId });
  const url = transferUrlOf(publicUrl(), transferId, "instructions");
  const redirected = await carriers[carrier].transfers.redirect(account, carrierCallId, url, deps.closing);
  if (redirected.kind === "refused") {
    const step = { from: ["requested"], to: "failed", failure: redirected.reason } as const;
    if (await advanceTransfer(db, accountId, transferId, step))
      return pursued(deps, attempt, "failed", redirected.reason);
  } else if (redirected.kind === "unknown") {
    deps.logger.warn(
      { callId, reason: redirected.reason },
      "it is unknown whether a carrier puts a caller on hold",
    );
  }
  return awaited(deps, attempt, signal);
}

/** Waits until the two are connected, or until they cannot be. */
async function awaited(deps: TransferDeps, attempt: Consulted, signal: AbortSignal): Promise<Pursued> {
  const { pollMs } = deps.limits ?? TRANSFER_LIMITS;
  const { transferId, accountId } = attempt;
  const beganMs = performance.now();
  let isHeld = false;
  for (;;) {
    const progress = await readTransfer(deps.db, accountId, transferId);
    if (progress === null) {
      const reason = "the call was deleted";
      const { callId, carried } = attempt;
      deps.hangUpLeg({ accountId, callId, carrier: carried.carrier, carrierCallId: carried.carrierCallId });
      return { state: "canceled", reason, outcome: failure(reason) };
    }
    const { state, failure: reason } = progress;
    if (!OPEN.includes(state)) {
      if (state !== "connected" && !STAYED.includes(reason ?? "")) await bringBack(deps, attempt, isHeld);
      return pursued(deps, attempt, state, reason);
    }
    isHeld ||= state !== "requested";
    if (signal.aborted) {
      await abandon(deps, attempt);
      throw signal.reason;
    }
    const failed = await failureOf(deps, attempt, state, performance.now() - beganMs);
    if (failed === null) await deps.waits.changed(transferId, pollMs, signal);
    else
      await advanceTransfer(deps.db, accountId, transferId, { from: [state], to: "failed", failure: failed });
  }
}

async function pursued(
  deps: TransferDeps,
  attempt: Consulted,
  state: TransferState,
  reason: string | null,
): Promise<Pursued> {
  return { state, reason, outcome: await settled(deps, attempt, state, reason) };
}

/** Nobody has to be brought back from the hold. */
const STAYED: readonly string[] = [CALLER_GONE, HOLD_ENDED, NO_HOLD];

async function failureOf(
  deps: TransferDeps,
  { consultCallId }: Consulted,
  state: TransferState,
  waitedMs: number,
): Promise<string | null> {
  const { startMs, consultationEndMs } = deps.limits ?? TRANSFER_LIMITS;
  const over = await consultationFailure(deps, consultCallId);
  if (over !== null) return over;
  // What the carrier fetches later brings the caller to the agent.
  if (state === "requested" && waitedMs >= startMs) return NO_HOLD;
  return waitedMs >= consultationEndMs ? "nobody has taken the call in time" : null;
}

/**
 * The caller waits in the conference, and gets the stream of the same call. One who cannot be brought back is hung up:
 * nobody else would end the hold, which lasts for hours.
 */
async function bringBack(deps: TransferDeps, attempt: Consulted, isHeld: boolean): Promise<void> {
  const { carriers, publicUrl, logger, closing, waits, hangUpLeg } = deps;
  const { transferId, accountId, callId, carried } = attempt;
  const { carrier, account, carrierCallId } = carried;
  const url = transferUrlOf(publicUrl(), transferId, "instructions");
  const ask = () => carriers[carrier].transfers.redirect(account, carrierCallId, url, closing);
  let back = await ask();
  if (back.kind !== "redirected") {
    await waits.changed(transferId, (deps.limits ?? TRANSFER_LIMITS).pollMs, closing);
    // Instructions that are fetched twice connect the caller again.
    back = await ask();
  }
  if (back.kind === "redirected") return;
  logger.warn({ callId, reason: back.reason }, "a caller could not be brought back from a transfer");
  if (isHeld) hangUpLeg({ accountId, callId, carrier, carrierCallId });
}
