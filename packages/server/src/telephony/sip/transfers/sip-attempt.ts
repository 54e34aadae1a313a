/** One attempt to transfer a call over SIP: what is known of it, and its events. */

import type { Logger } from "pino";
import type { CreateCall } from "../../../lifecycle/api.ts";
import { messageOf } from "../../../pacing/error-text.ts";
import type { HoldMusic, SipTransfers, TransferableCall } from "../../../ports/sip/sip-transfers.ts";
import type { LiveCalls } from "../../../runner/live-calls.ts";
import type { Db } from "../../../store/database/db.ts";
import type { DiallingRules } from "../../../store/telephony/dialling-rules.ts";
import type { SipRules } from "../../../store/telephony/sip-rules.ts";
import type { TransferOutcome } from "../../transfers/transfer-calls.ts";
import { noteTransfer, type TransferNote } from "../../transfers/transfer-notes.ts";
import type { TransferTool } from "../../transfers/transfer-order.ts";
import type { Consultations } from "./consultations.ts";
import type { SipTransferOrder } from "./sip-transfer-order.ts";

export interface SipTransferDeps {
  readonly db: Db;
  readonly sipHost: string;
  readonly transfers: SipTransfers;
  readonly consultations: Consultations;
  /** Available once the service is ready. */
  readonly createCall: CreateCall;
  readonly liveCalls: Pick<LiveCalls, "endCall" | "endUnjoined">;
  /** Reads the music of a URL. Rejects with a reason. */
  readonly fetchMusic: (url: string, signal: AbortSignal) => Promise<HoldMusic>;
  readonly nowMs: () => number;
  /** Called once for each attempt, for the metrics. */
  readonly counted: (outcome: TransferOutcome) => void;
  readonly logger: Pick<Logger, "warn">;
}

export interface Attempt {
  readonly transferId: string;
  readonly tool: TransferTool;
  readonly call: TransferableCall;
  readonly order: SipTransferOrder;
  readonly rules: DiallingRules;
  readonly dialledSrtp: SipRules["dialledSrtp"];
}

/** `failure` is in words for the model, as the end of a sentence; `detail` may be from the network. */
export type Connected =
  { readonly by: "REFER" | "BRIDGE" } | { readonly failure: string; readonly detail: string };

/** A note that cannot be stored is no reason to give up a transfer. */
export async function note(
  deps: Pick<SipTransferDeps, "db" | "nowMs" | "logger">,
  { call, tool }: Pick<Attempt, "call" | "tool">,
  type: TransferNote["type"],
  text: string,
  extras: object = {},
): Promise<void> {
  const { accountId, callId } = call.owner;
  const isProblem = type === "sip.transfer_failed" || type === "sip.hold_music_failed";
  const severity = isProblem ? "warning" : "info";
  try {
    await noteTransfer(deps, accountId, callId, { severity, type, text, extras: { tool, ...extras } });
  } catch (error) {
    deps.logger.warn({ callId, error: messageOf(error) }, "an event of a transfer could not be stored");
  }
}
