/**
 * The tools `coldTransfer` and `warmTransfer` over carriers: checks the target, makes the carrier fetch the instructions of
 * the transfer, and waits for its outcome. The callbacks of the carrier may reach any process, so the progress is in the
 * database. Every attempt ends once, in `advanceTransfer`.
 */

import { randomUUID } from "node:crypto";
import type { ConfiguredCarrier, ToolOutcome } from "@parley/schema";
import type { Logger } from "pino";
import { messageOf } from "../../pacing/error-text.ts";
import type { Carriers } from "../../ports/carriers.ts";
import type { ToolInvocation } from "../../ports/tool-invoker.ts";
import type { Db } from "../../store/database/db.ts";
import {
  advanceTransfer,
  insertTransfer,
  readTransfer,
  type TransferState,
} from "../../store/telephony/call-transfers.ts";
import { noteRefused } from "../../store/telephony/carrier-dials.ts";
import { admitDial, readDiallingRules } from "../../store/telephony/dialling-rules.ts";
import { numberProblem } from "../number-rules.ts";
import { carriedCallOf, type CarriedCall } from "./carried-call.ts";
import { noteTransfer } from "./transfer-notes.ts";
import { requestedTransfer, type TransferOrder, type TransferTool } from "./transfer-order.ts";
import { transferUrlOf } from "./transfer-urls.ts";
import type { TransferWaits } from "./transfer-waits.ts";

export interface TransferLimits {
  /** Between two queries of the database, for callbacks that came to another process. */
  readonly pollMs: number;
  /** A carrier that has not fetched its instructions within this time does nothing. */
  readonly startMs: number;
  /** Ringing, the question and the carrier's callbacks; below the limit of the engine. */
  readonly endMs: number;
}

export const TRANSFER_LIMITS: TransferLimits = { pollMs: 1_000, startMs: 20_000, endMs: 100_000 };

export type TransferOutcome = "connected" | "failed" | "refused" | "canceled";

export interface TransferDeps {
  readonly db: Db;
  readonly carriers: Carriers;
  readonly publicUrl: () => string;
  readonly nowMs: () => number;
  readonly waits: TransferWaits;
  /** Called once for each attempt, for the metrics. */
  readonly counted: (carrier: ConfiguredCarrier, outcome: TransferOutcome) => void;
  /** Aborted when the service stops. */
  readonly closing: AbortSignal;
  readonly logger: Pick<Logger, "warn">;
  readonly limits?: TransferLimits;
}

export type TransferCall = (invocation: ToolInvocation, signal: AbortSignal) => Promise<ToolOutcome>;

/** States that a transfer leaves again. */
const OPEN: readonly TransferState[] = ["requested", "dialling", "answered"];

interface Attempt {
  readonly transferId: string;
  readonly accountId: string;
  readonly callId: string;
  readonly tool: TransferTool;
  readonly carried: CarriedCall;
  readonly order: TransferOrder;
}

export function createTransfers(deps: TransferDeps): TransferCall {
  const transferring = new Set<string>();
  return async (invocation, signal) => {
    const { callId } = invocation;
    if (transferring.has(callId)) return failure("another transfer of this call is under way");
    transferring.add(callId);
    try {
      const attempt = await admitted(deps, invocation);
      return "problem" in attempt ? failure(attempt.problem) : await transfer(deps, attempt, signal);
    } finally {
      transferring.delete(callId);
    }
  };
}

function failure(reason: string): ToolOutcome {
  return { kind: "failed", cause: "error", text: `The tool failed: ${reason}`, errorDetails: reason };
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
  const dial = { callId: transferId, carrier: carried.carrier, number: order.target.address };
  const admission = await admitDial(db, accountId, dial, rules);
  if (admission.kind !== "admitted") {
    const limit = admission.kind === "calls" ? "dialled calls" : "dialled minutes";
    return refused(`the account's limit of ${limit} within 24 hours is reached`);
  }
  return { transferId, accountId, callId, tool, carried, order };
}

async function transfer(deps: TransferDeps, attempt: Attempt, signal: AbortSignal): Promise<ToolOutcome> {
  const { db, carriers, publicUrl } = deps;
  const { transferId, accountId, carried, order } = attempt;
  const { carrier, account, carrierCallId } = carried;
  if (signal.aborted) {
    await noteRefused(db, accountId, transferId, "the call has ended");
    throw signal.reason;
  }
  await insertTransfer(db, accountId, { ...attempt, carrier, carrierCallId, order });
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

async function settled(
  deps: TransferDeps,
  attempt: Attempt,
  state: TransferState,
  reason: string | null,
): Promise<ToolOutcome> {
  if (state === "connected") {
    deps.counted(attempt.carried.carrier, "connected");
    await note(deps, attempt, "telephony.transferred", "the caller was transferred");
    return { kind: "completed", result: "", responseType: "hang-up", reaction: null, updateCallState: null };
  }
  deps.counted(attempt.carried.carrier, "failed");
  const why = reason ?? "the transfer was canceled";
  await note(deps, attempt, "telephony.failed", `the transfer has failed: ${why}`);
  return failure(why);
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

/** The call is over here, so the attempt ends at the carrier as well, unless the two are connected. */
async function abandon(deps: TransferDeps, attempt: Attempt): Promise<void> {
  const { db, carriers, logger, counted } = deps;
  const { transferId, accountId, callId, carried } = attempt;
  if (!(await advanceTransfer(db, accountId, transferId, { from: OPEN, to: "canceled" }))) return;
  counted(carried.carrier, "canceled");
  const ended = await carriers[carried.carrier].hangUp(carried.account, carried.carrierCallId, deps.closing);
  if (ended.kind === "failed")
    logger.warn({ callId, reason: ended.reason }, "a transfer could not be ended at its carrier");
}

/** A note that cannot be stored is no reason to give up a transfer. */
async function note(
  deps: TransferDeps,
  { accountId, callId, tool, carried }: Pick<Attempt, "accountId" | "callId" | "tool" | "carried">,
  type: "telephony.failed" | "telephony.transferring" | "telephony.transferred",
  text: string,
): Promise<void> {
  const severity = type === "telephony.failed" ? "warning" : "info";
  try {
    await noteTransfer(deps, accountId, callId, {
      severity,
      type,
      text,
      extras: { carrier: carried.carrier, tool },
    });
  } catch (error) {
    deps.logger.warn({ callId, error: messageOf(error) }, "an event of a transfer could not be stored");
  }
}
