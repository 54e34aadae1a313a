/**
 * The tools `coldTransfer` and `warmTransfer` in calls over SIP: checks the target, holds the caller, and connects the
 * two by REFER or by a bridge of this service. Whatever fails, the caller is back with the agent.
 */

import { randomUUID } from "node:crypto";
import type { ToolOutcome } from "@parley/schema";
import { messageOf } from "../../../pacing/error-text.ts";
import type { TransferableCall } from "../../../ports/sip/sip-transfers.ts";
import type { ToolInvocation } from "../../../ports/tool-invoker.ts";
import { advanceTransfer, insertTransfer } from "../../../store/telephony/call-transfers.ts";
import { noteProgress, noteRefused } from "../../../store/telephony/carrier-dials.ts";
import { inTransaction } from "../../../store/database/db.ts";
import { admitDial, readDiallingRules } from "../../../store/telephony/dialling-rules.ts";
import { readSipRules } from "../../../store/telephony/sip-rules.ts";
import { numberProblem } from "../../number-rules.ts";
import { RESULTS } from "../outcomes.ts";
import { wordsOf, wordsOfStatus } from "./sip-failures.ts";
import { readSipGround } from "./sip-ground.ts";
import { note, type Attempt, type Connected, type SipTransferDeps } from "./sip-attempt.ts";
import { sipTransferOrder } from "./sip-transfer-order.ts";
import { warmTransfer } from "./warm-transfer.ts";

/** Ringing at the target; below the limit of the engine (120 s), so that the agent hears how it ended. */
export const COLD_LIMIT_MS = 100_000;

export type SipTransfer = (invocation: ToolInvocation, signal: AbortSignal) => Promise<ToolOutcome>;

export function createSipTransfers(deps: SipTransferDeps): SipTransfer {
  const transferring = new Set<string>();
  return async (invocation, signal) => {
    const { callId } = invocation;
    const call = deps.transfers.callOf(callId);
    if (call === null || call.isOver) return failure("the call is not connected");
    if (transferring.has(callId)) return failure("another transfer of this call is under way");
    transferring.add(callId);
    try {
      const attempt = await admitted(deps, call, invocation);
      return "problem" in attempt ? failure(attempt.problem) : await transfer(deps, attempt, signal);
    } finally {
      transferring.delete(callId);
    }
  };
}

export function failure(reason: string): ToolOutcome {
  return { kind: "failed", cause: "error", text: `The tool failed: ${reason}`, errorDetails: reason };
}

/** Checks everything that can be checked before anybody is asked, and counts the dial. */
async function admitted(
  deps: SipTransferDeps,
  call: TransferableCall,
  { accountId, implementation, values }: ToolInvocation,
): Promise<Attempt | { readonly problem: string }> {
  const { db, sipHost } = deps;
  const isWarm = implementation.kind === "builtIn" && implementation.builtIn === "warmTransfer";
  const tool = isWarm ? "warmTransfer" : "coldTransfer";
  const refused = async (problem: string): Promise<{ readonly problem: string }> => {
    deps.counted("refused");
    await note(deps, { call, tool }, "sip.transfer_failed", `the transfer was refused: ${problem}`);
    return { problem };
  };
  const ground = await readSipGround(db, sipHost, call);
  if (ground === null) return { problem: "the call does not exist" };
  const order = sipTransferOrder(tool, values, ground);
  if ("problem" in order) return refused(order.problem);
  const rules = await readDiallingRules(db, accountId);
  const forbidden = numberProblem(order.address, rules.allowedPrefixes, order.chosenBy);
  if (forbidden !== null) return refused(`target ${forbidden}`);
  const transferId = randomUUID();
  const { callId } = call.owner;
  const { dialledSrtp } = await readSipRules(db, accountId);
  const attempt = { transferId, tool, call, order, rules, dialledSrtp } as const;
  // A warm transfer creates a call, which is counted as every call that is dialled.
  if (isWarm) return attempt;
  const dial = { callId: transferId, carrier: "sip", number: order.address } as const;
  const stored = {
    transferId,
    callId,
    carrier: "sip",
    carrierCallId: callId,
    order: { to: order.to },
  } as const;
  // Both or neither: a dial without a transfer would stay without a result.
  const admission = await inTransaction(db, async (tx) => {
    const admitting = await admitDial(tx, accountId, dial, rules);
    if (admitting.kind === "admitted") await insertTransfer(tx, accountId, stored);
    return admitting;
  });
  if (admission.kind === "admitted") return attempt;
  const limit = admission.kind === "calls" ? "dialled calls" : "dialled minutes";
  return refused(`the account's limit of ${limit} within 24 hours is reached`);
}

async function transfer(deps: SipTransferDeps, attempt: Attempt, signal: AbortSignal): Promise<ToolOutcome> {
  const { call, order, tool } = attempt;
  await note(deps, attempt, "sip.transferring", "the caller is being transferred");
  call.hold(null);
  const over = new AbortController();
  let isConnected = false;
  if (order.holdMusicUrl !== null) void playMusic(deps, attempt, order.holdMusicUrl, over.signal);
  try {
    const connected =
      tool === "warmTransfer"
        ? await warmTransfer(deps, attempt, signal)
        : await coldTransfer(deps, attempt, signal);
    if ("failure" in connected) return await failed(deps, attempt, connected, signal);
    isConnected = true;
    deps.counted("connected");
    await note(deps, attempt, "sip.transferred", "the caller was transferred", { by: connected.by });
    return { kind: "completed", result: "", responseType: "hang-up", reaction: null, updateCallState: null };
  } finally {
    over.abort(new Error("the transfer is over"));
    // Whatever has failed, the caller must not stay on hold.
    if (!isConnected && !call.isOver) call.resume();
  }
}

async function failed(
  deps: SipTransferDeps,
  attempt: Attempt,
  { failure: why, detail }: Extract<Connected, { readonly failure: string }>,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { call } = attempt;
  if (signal.aborted || call.isOver) {
    deps.counted("canceled");
    await note(deps, attempt, "sip.transfer_failed", "the call has ended during the transfer");
    if (signal.aborted) throw signal.reason;
    return failure("the call has ended");
  }
  deps.counted("failed");
  await note(deps, attempt, "sip.transfer_failed", `the transfer has failed: ${why}`, { detail });
  return failure(why);
}

async function coldTransfer(
  deps: SipTransferDeps,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<Connected> {
  const { db } = deps;
  const { transferId, call, order } = attempt;
  const { accountId } = call.owner;
  const connected = signal.aborted
    ? await nobodyDialled(deps, attempt)
    : await (order.by === "REFER" ? byRefer(deps, attempt) : byInvite(deps, attempt, signal));
  const isConnected = "by" in connected;
  await advanceTransfer(db, accountId, transferId, {
    from: ["requested"],
    to: isConnected ? "connected" : "failed",
    ...(isConnected ? {} : { failure: connected.failure }),
  });
  return connected;
}

async function nobodyDialled({ db }: SipTransferDeps, { transferId, call }: Attempt): Promise<Connected> {
  const reason = "the call has ended";
  await noteRefused(db, call.owner.accountId, transferId, reason);
  return { failure: reason, detail: "" };
}

/** The other side calls the target, so nobody here knows how long the two talk. */
async function byRefer(deps: SipTransferDeps, { transferId, call, order }: Attempt): Promise<Connected> {
  const { accountId } = call.owner;
  const outcome = await call.refer(order.to, { headers: order.referHeaders, limitMs: COLD_LIMIT_MS });
  const detail = `${String(outcome.status)} ${outcome.reason}`;
  if (outcome.kind === "refused") {
    await noteRefused(deps.db, accountId, transferId, detail);
    return { failure: "the other side of the call does not transfer calls", detail };
  }
  const isTransferred = outcome.kind === "transferred";
  const result = isTransferred ? "completed" : "failed";
  const progress = { carrierCallId: null, isAnswered: false, result, detail, talkedMs: null } as const;
  await noteProgress(deps.db, accountId, transferId, progress);
  return isTransferred ? { by: "REFER" } : { failure: wordsOfStatus(outcome.status), detail };
}

/** The service calls the target, and stays between the two. */
async function byInvite(
  deps: SipTransferDeps,
  { transferId, call, order, rules, dialledSrtp: srtp }: Attempt,
  signal: AbortSignal,
): Promise<Connected> {
  const { db, logger } = deps;
  const { accountId, callId } = call.owner;
  const noted = (progress: Parameters<typeof noteProgress>[3]): void => {
    noteProgress(db, accountId, transferId, progress).catch((error: unknown) => {
      logger.warn({ callId, error: messageOf(error) }, "the outcome of a dial could not be stored");
    });
  };
  const { to, from, credentials, inviteHeaders: headers } = order;
  const destination = {
    to,
    from,
    credentials,
    headers,
    srtp,
    ringLimitMs: COLD_LIMIT_MS,
    besideCallId: callId,
    mayRedirectTo: (uri: string) => numberProblem(uri, rules.allowedPrefixes, order.chosenBy) === null,
  };
  const aside = deps.transfers.dialAside(
    { callId: transferId, accountId },
    destination,
    (termination, talkedMs) =>
      noted({
        carrierCallId: null,
        isAnswered: true,
        result: RESULTS[termination],
        detail: null,
        talkedMs: Math.round(talkedMs),
      }),
  );
  const cancel = (): void => aside.cancel();
  signal.addEventListener("abort", cancel);
  void call.over.then(cancel);
  const outcome = await aside.outcome.finally(() => signal.removeEventListener("abort", cancel));
  if (outcome.kind === "failed") {
    const { termination, detail } = outcome;
    const result = RESULTS[termination];
    noted({ carrierCallId: null, isAnswered: false, result, detail, talkedMs: null });
    return { failure: wordsOf(termination), detail };
  }
  noted({ carrierCallId: null, isAnswered: true, result: null, detail: null, talkedMs: null });
  if (call.bridge(outcome.call)) return { by: "BRIDGE" };
  outcome.call.hangUp();
  return { failure: "the call could not be connected", detail: "the media cannot be bridged" };
}

async function playMusic(
  deps: SipTransferDeps,
  attempt: Attempt,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    const music = await deps.fetchMusic(url, signal);
    if (!signal.aborted) attempt.call.hold(music);
  } catch (error) {
    if (signal.aborted) return;
    const text = `the hold music cannot be played, the caller hears silence: ${messageOf(error)}`;
    await note(deps, attempt, "sip.hold_music_failed", text);
  }
}
