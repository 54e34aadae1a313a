/** What all transfers over carriers have in common: the attempt, its events and its result. */

import type { ConfiguredCarrier, ToolOutcome } from "@parley/schema";
import type { Logger } from "pino";
import type { CreateCall } from "../../lifecycle/api.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { Carriers } from "../../ports/carriers.ts";
import type { ToolInvocation } from "../../ports/tool-invoker.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import type { Db } from "../../store/database/db.ts";
import { advanceTransfer, type TransferState } from "../../store/telephony/call-transfers.ts";
import type { CarriedCall } from "./carried-call.ts";
import { noteTransfer } from "./transfer-notes.ts";
import type { TransferOrder, TransferTool } from "./transfer-order.ts";
import type { TransferWaits } from "./transfer-waits.ts";

export interface TransferLimits {
  /** Between two queries of the database, for callbacks that came to another process. */
  readonly pollMs: number;
  /** A carrier that has not fetched its instructions within this time does nothing. */
  readonly startMs: number;
  /** Ringing, the question and the carrier's callbacks; below the limit of the engine. */
  readonly endMs: number;
  /** The same for a transfer with a conversation: ringing, the conversation, and the connection of the two. */
  readonly consultationEndMs: number;
}

export const TRANSFER_LIMITS: TransferLimits = {
  pollMs: 1_000,
  startMs: 20_000,
  endMs: 100_000,
  consultationEndMs: 290_000,
};

export type TransferOutcome = "connected" | "failed" | "refused" | "canceled";

export interface TransferDeps {
  readonly db: Db;
  readonly carriers: Carriers;
  readonly publicUrl: () => string;
  readonly nowMs: () => number;
  readonly waits: TransferWaits;
  /** For the conversation with the called person, which is a call of its own. */
  readonly createCall: CreateCall;
  readonly liveCalls: Pick<LiveCalls, "endCall" | "endUnjoined" | "sendToCall">;
  /** What the deployment allows for any call, in ms. */
  readonly callLimits: { readonly joinTimeoutMs: number; readonly maxDurationMs: number };
  /** Queues the end of one leg at its carrier. Never throws. */
  readonly hangUpLeg: (leg: CarrierLeg) => void;
  /** Called once for each attempt, for the metrics. */
  readonly counted: (carrier: ConfiguredCarrier, outcome: TransferOutcome) => void;
  /** Aborted when the service stops. */
  readonly closing: AbortSignal;
  readonly logger: Pick<Logger, "warn">;
  readonly limits?: TransferLimits;
}

/** A call at a carrier, and the call here that it belongs to. */
export interface CarrierLeg {
  readonly accountId: string;
  readonly callId: string;
  readonly carrier: ConfiguredCarrier;
  readonly carrierCallId: string;
}

export type RunTransferTool = (invocation: ToolInvocation, signal: AbortSignal) => Promise<ToolOutcome>;

/** States that a transfer leaves again. */
export const OPEN: readonly TransferState[] = ["requested", "dialling", "answered"];

export interface Attempt {
  readonly transferId: string;
  readonly accountId: string;
  readonly callId: string;
  readonly tool: TransferTool;
  readonly carried: CarriedCall;
  readonly order: TransferOrder;
}

export function failure(reason: string): ToolOutcome {
  return { kind: "failed", cause: "error", text: `The tool failed: ${reason}`, errorDetails: reason };
}

/** Ends the call: it goes on at the carrier. */
export const CONNECTED: ToolOutcome = {
  kind: "completed",
  result: "",
  responseType: "hang-up",
  reaction: null,
  updateCallState: null,
};

/** The result of a transfer in a final state. */
export async function settled(
  deps: TransferDeps,
  attempt: Attempt,
  state: TransferState,
  reason: string | null,
): Promise<ToolOutcome> {
  if (state === "connected") {
    deps.counted(attempt.carried.carrier, "connected");
    await note(deps, attempt, "telephony.transferred", "the caller was transferred");
    return CONNECTED;
  }
  deps.counted(attempt.carried.carrier, "failed");
  const why = reason ?? "the transfer was canceled";
  await note(deps, attempt, "telephony.failed", `the transfer has failed: ${why}`);
  return failure(why);
}

/**
 * The call is over here, so the attempt ends at the carrier as well, unless the two are connected.
 * @returns whether it was ended
 */
export async function abandon(deps: TransferDeps, attempt: Attempt): Promise<boolean> {
  const { db, carriers, logger, counted, hangUpLeg } = deps;
  const { transferId, accountId, callId, carried } = attempt;
  if (!(await advanceTransfer(db, accountId, transferId, { from: OPEN, to: "canceled" }))) return false;
  const { carrier, account, carrierCallId } = carried;
  counted(carrier, "canceled");
  const ended = await carriers[carrier].hangUp(account, carrierCallId, deps.closing);
  if (ended.kind === "ended") return true;
  logger.warn({ callId, reason: ended.reason }, "a transfer could not be ended at its carrier");
  if (!ended.isPermanent) hangUpLeg({ accountId, callId, carrier, carrierCallId });
  return true;
}

/** A note that cannot be stored is no reason to give up a transfer. */
export async function note(
  deps: TransferDeps,
  { accountId, callId, tool, carried }: Pick<Attempt, "accountId" | "callId" | "tool" | "carried">,
  type: "telephony.failed" | "telephony.transferring" | "telephony.transferred",
  text: string,
  extras: object = {},
): Promise<void> {
  const severity = type === "telephony.failed" ? "warning" : "info";
  try {
    await noteTransfer(deps, accountId, callId, {
      severity,
      type,
      text,
      extras: { carrier: carried.carrier, tool, ...extras },
    });
  } catch (error) {
    deps.logger.warn({ callId, error: messageOf(error) }, "an event of a transfer could not be stored");
  }
}
