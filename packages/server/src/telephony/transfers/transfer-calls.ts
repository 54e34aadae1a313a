/**
 * The tools `coldTransfer` and `warmTransfer` over carriers: checks the target, makes the carrier fetch the instructions of
 * the transfer, and waits for its outcome. The callbacks of the carrier may reach any process, so the progress is in the
 * database. Every attempt ends once, in `advanceTransfer`.
 */

import { randomUUID } from "node:crypto";
import type { ToolOutcome } from "@parley/schema";
import type { ToolInvocation } from "../../ports/tool-invoker.ts";
import { advanceTransfer, insertTransfer, readTransfer } from "../../store/telephony/call-transfers.ts";
import { noteRefused } from "../../store/telephony/carrier-dials.ts";
import { admitDial, readDiallingRules } from "../../store/telephony/dialling-rules.ts";
import { numberProblem } from "../number-rules.ts";
import {
  abandon,
  failure,
  note,
  OPEN,
  settled,
  TRANSFER_LIMITS,
  type Attempt,
  type RunTransferTool,
  type TransferDeps,
} from "./attempts.ts";
import { carriedCallOf } from "./carried-call.ts";
import { consultedTransfer } from "./consulted-transfers.ts";
import { requestedTransfer } from "./transfer-order.ts";
import { transferUrlOf } from "./transfer-urls.ts";

export type { TransferOutcome } from "./attempts.ts";

export function createTransfers(deps: TransferDeps): RunTransferTool {
  const transferring = new Set<string>();
  return async (invocation, signal) => {
    const { callId } = invocation;
    if (transferring.has(callId)) return failure("another transfer of this call is under way");
    transferring.add(callId);
    try {
      const attempt = await admitted(deps, invocation);
      if ("problem" in attempt) return failure(attempt.problem);
      const run = attempt.order.consultation === null ? transfer : consultedTransfer;
      return await run(deps, attempt, signal);
    } finally {
      transferring.delete(callId);
    }
  };
}

/** Checks everything that can be checked before the carrier is asked, and counts the dial. */
async function admitted(
  deps: TransferDeps,
  { accountId, callId, implementation, values }: ToolInvocation,
): Promise<Attempt | { readonly problem: string }> {
  const { db, carriers } = deps;
  const tool =
    implementation.kind === "builtIn" && implementation.builtIn === "warmTransfer"
      ? "warmTransfer"
      : "coldTransfer";
  const carried = await carriedCallOf(db, carriers, { accountId, callId });
  if ("problem" in carried) return carried;
  const refused = async (problem: string): Promise<{ readonly problem: string }> => {
    deps.counted(carried.carrier, "refused");
    await note(
      deps,
      { accountId, callId, tool, carried },
      "telephony.failed",
      `the transfer was refused: ${problem}`,
    );
    return { problem };
  };
  const requested = requestedTransfer(tool, values, carried);
  if ("problem" in requested) return refused(requested.problem);
  const { order, chosenBy } = requested;
  const rules = await readDiallingRules(db, accountId);
  const forbidden = numberProblem(order.target.address, rules.allowedPrefixes, chosenBy);
  if (forbidden !== null) return refused(`target ${forbidden}`);
  const impossible = carriers[carried.carrier].transfers.problemWith(order.target);
  if (impossible !== null) return refused(impossible);
  const transferId = randomUUID();
  const attempt = { transferId, accountId, callId, tool, carried, order } as const;
  // The conversation with the called person is a dialled call, which is counted when it is created.
  if (order.consultation !== null) return attempt;
  const dial = { callId: transferId, carrier: carried.carrier, number: order.target.address };
  const admission = await admitDial(db, accountId, dial, rules);
  if (admission.kind !== "admitted") {
    const limit = admission.kind === "calls" ? "dialled calls" : "dialled minutes";
    return refused(`the account's limit of ${limit} within 24 hours is reached`);
  }
  return attempt;
}

async function transfer(deps: TransferDeps, attempt: Attempt, signal: AbortSignal): Promise<ToolOutcome> {
  const { db, carriers, publicUrl } = deps;
  const { transferId, accountId, carried, order } = attempt;
  const { carrier, account, carrierCallId } = carried;
  if (signal.aborted) {
    await noteRefused(db, accountId, transferId, "the call has ended");
    throw signal.reason;
  }
  await insertTransfer(db, accountId, { ...attempt, carrier, carrierCallId, order, consultCallId: null });
  const text =
    order.target.holdMusicUrl !== null && !carriers[carrier].transfers.playsMusic
      ? "the caller is being transferred, and hears ringing: the carrier plays no music during transfers"
      : "the caller is being transferred";
  await note(deps, attempt, "telephony.transferring", text);
  const url = transferUrlOf(publicUrl(), transferId, "instructions");
  const redirected = await carriers[carrier].transfers.redirect(account, carrierCallId, url, deps.closing);
  if (redirected.kind === "refused") {
    // A carrier that has fetched its instructions all the same dials.
    const step = { from: ["requested"], to: "failed", failure: redirected.reason } as const;
    if (await advanceTransfer(db, accountId, transferId, step))
      await noteRefused(db, accountId, transferId, redirected.reason);
  } else if (redirected.kind === "unknown") {
    deps.logger.warn(
      { callId: attempt.callId, reason: redirected.reason },
      "it is unknown whether a carrier transfers a call",
    );
  }
  return awaited(deps, attempt, signal);
}

/** Waits until the transfer has succeeded or failed. */
async function awaited(deps: TransferDeps, attempt: Attempt, signal: AbortSignal): Promise<ToolOutcome> {
  const { pollMs, startMs, endMs } = deps.limits ?? TRANSFER_LIMITS;
  const { transferId, accountId } = attempt;
  const beganMs = performance.now();
  for (;;) {
    const progress = await readTransfer(deps.db, accountId, transferId);
    if (progress === null) return failure("the call was deleted");
    if (!OPEN.includes(progress.state)) return settled(deps, attempt, progress.state, progress.failure);
    if (signal.aborted) {
      await abandon(deps, attempt);
      throw signal.reason;
    }
    const waitedMs = performance.now() - beganMs;
    if (progress.state === "requested" && waitedMs >= startMs) {
      await advanceTransfer(deps.db, accountId, transferId, {
        from: ["requested"],
        to: "failed",
        failure: "the carrier has not begun the transfer",
      });
    } else if (waitedMs >= endMs) await giveUp(deps, attempt);
    else await deps.waits.changed(transferId, pollMs, signal);
  }
}

/**
 * The callbacks have been lost. A blind transfer may have succeeded, and its conversation is not cut off. In a warm one,
 * a person who has not accepted in time is disconnected, and the caller is connected to the agent again.
 */
async function giveUp(deps: TransferDeps, attempt: Attempt): Promise<void> {
  const { db, carriers, publicUrl, logger } = deps;
  const { transferId, accountId, callId, order, carried } = attempt;
  if (order.question === null) {
    await advanceTransfer(db, accountId, transferId, { from: OPEN, to: "connected" });
    return;
  }
  const failure = "nobody has taken the call in time";
  if (!(await advanceTransfer(db, accountId, transferId, { from: OPEN, to: "failed", failure }))) return;
  const url = transferUrlOf(publicUrl(), transferId, "instructions");
  const { carrier, account, carrierCallId } = carried;
  const back = await carriers[carrier].transfers.redirect(account, carrierCallId, url, deps.closing);
  if (back.kind !== "redirected")
    logger.warn({ callId, reason: back.reason }, "a caller could not be brought back from a transfer");
}
