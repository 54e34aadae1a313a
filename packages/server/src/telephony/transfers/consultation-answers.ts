/** The tools by which the called person of a warm transfer takes the call or declines it. */

import type { ToolOutcome } from "@parley/schema";
import type { ToolInvocation } from "../../ports/tool-invoker.ts";
import {
  advanceTransfer,
  getTransfer,
  readTransfer,
  transferOfConsult,
  type TransferRow,
  type TransferState,
} from "../../store/telephony/call-transfers.ts";
import { getDial } from "../../store/telephony/carrier-dials.ts";
import { readTelephonyConfigs } from "../../store/telephony/telephony-configs.ts";
import {
  CONNECTED,
  failure,
  OPEN,
  TRANSFER_LIMITS,
  type RunTransferTool,
  type TransferDeps,
} from "./attempts.ts";
import { DECLINED } from "./consulted-transfers.ts";
import { transferUrlOf } from "./transfer-urls.ts";

/** A carrier fetches its instructions within seconds. */
const CONNECT_LIMIT_MS = 20_000;
/** What the called person wants the caller to know. */
const REASON_CHARS_MAX = 500;
/** The caller is on hold. */
const HELD: readonly TransferState[] = ["dialling", "answered"];
const NO_CALLER = "there is no caller who waits any more";

export function createConsultationAnswers(deps: TransferDeps): RunTransferTool {
  return async (invocation, signal) => {
    const { accountId, callId, implementation } = invocation;
    const transferId = await transferOfConsult(deps.db, accountId, callId);
    const transfer = transferId === null ? null : await getTransfer(deps.db, transferId);
    if (transfer === null) return failure(NO_CALLER);
    const accepts = implementation.kind === "builtIn" && implementation.builtIn === "acceptTransfer";
    return accepts ? accept(deps, transfer, callId, signal) : refuse(deps, transfer, invocation);
  };
}

/** Sends the called person to the caller. */
async function accept(
  deps: TransferDeps,
  transfer: TransferRow,
  consultCallId: string,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { db, carriers, publicUrl, closing } = deps;
  const { accountId, transferId, carrier, state } = transfer;
  if (state === "requested")
    return failure("the caller is not on hold yet; use this tool again in some seconds");
  if (!HELD.includes(state)) return failure(NO_CALLER);
  const dial = await getDial(db, consultCallId);
  const account = (await readTelephonyConfigs(db, accountId))[carrier];
  if (account === undefined || dial === null || dial.carrierCallId === null)
    return failure("the carrier's id of this call is not known, so the two cannot be connected");
  const url = transferUrlOf(publicUrl(), transferId, "bridge");
  const redirected = await carriers[carrier].transfers.redirect(account, dial.carrierCallId, url, closing);
  if (redirected.kind === "refused") return failure(`the two were not connected: ${redirected.reason}`);
  return awaited(deps, transfer, signal);
}

/** Waits until the carrier has fetched the instructions that connect the two. */
async function awaited(
  deps: TransferDeps,
  { accountId, transferId }: TransferRow,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { pollMs } = deps.limits ?? TRANSFER_LIMITS;
  const endMs = performance.now() + CONNECT_LIMIT_MS;
  for (;;) {
    const state = (await readTransfer(deps.db, accountId, transferId))?.state ?? "canceled";
    if (state === "connected") return CONNECTED;
    if (!OPEN.includes(state)) return failure(NO_CALLER);
    if (signal.aborted) throw signal.reason;
    if (performance.now() >= endMs) {
      const why = "the carrier has not connected the two";
      if (await advanceTransfer(deps.db, accountId, transferId, { from: OPEN, to: "failed", failure: why }))
        deps.waits.wake(transferId);
    } else await deps.waits.changed(transferId, pollMs, signal);
  }
}

async function refuse(
  deps: TransferDeps,
  { accountId, transferId }: TransferRow,
  { values }: ToolInvocation,
): Promise<ToolOutcome> {
  const given = values.find(({ name }) => name === "reason")?.value;
  const reason = typeof given === "string" ? given.trim().slice(0, REASON_CHARS_MAX) : "";
  const why = reason === "" ? DECLINED : `${DECLINED}: ${reason}`;
  if (await advanceTransfer(deps.db, accountId, transferId, { from: OPEN, to: "failed", failure: why }))
    deps.waits.wake(transferId);
  return CONNECTED;
}
