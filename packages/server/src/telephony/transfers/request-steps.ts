/** What the steps of a transfer have in common: a verified request, the progress of the transfer, and the way back. */

import type { Logger } from "pino";
import type { Carrier, Carriers } from "../../ports/carriers.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import { getCall } from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";
import {
  advanceTransfer,
  getTransfer,
  type TransferRow,
  type TransferState,
} from "../../store/telephony/call-transfers.ts";
import type { CarrierReply } from "../api.ts";
import { streamOf } from "../stream-returns.ts";
import type { TransferDeps } from "./attempts.ts";
import type { TransferOrder } from "./transfer-order.ts";
import type { TransferWaits } from "./transfer-waits.ts";

export interface TransferRequestDeps extends Pick<TransferDeps, "hangUpLeg"> {
  readonly db: Db;
  readonly carriers: Carriers;
  readonly publicUrl: () => string;
  readonly liveCalls: Pick<LiveCalls, "endCall">;
  readonly waits: TransferWaits;
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, "warn" | "info">;
}

export interface Verified {
  readonly transfer: TransferRow;
  readonly order: TransferOrder;
  readonly carrier: Carrier;
  readonly fields: ReadonlyMap<string, string>;
}

export type Step = (deps: TransferRequestDeps, verified: Verified) => Promise<CarrierReply>;

/** The caller is away from the agent, and nothing is decided. */
export const WAITING: readonly TransferState[] = ["dialling", "answered"];
const GOODBYE = "Sorry, this call is over. Goodbye.";

export function xmlOf(xml: string): CarrierReply {
  return { kind: "xml", xml };
}

export async function advance(
  { db, waits }: TransferRequestDeps,
  { accountId, transferId }: TransferRow,
  from: readonly TransferState[],
  to: TransferState,
  failure?: string,
): Promise<boolean> {
  const isNew = await advanceTransfer(db, accountId, transferId, {
    from,
    to,
    ...(failure === undefined ? {} : { failure }),
  });
  if (isNew) waits.wake(transferId);
  return isNew;
}

/** Connects the caller to the agent again, in the same call. */
export async function toAgent(
  { db, publicUrl, nowMs }: TransferRequestDeps,
  { transfer, carrier }: Verified,
): Promise<CarrierReply> {
  const { accountId, callId } = transfer;
  const call = await getCall(db, accountId, callId);
  if (call === null || call.joinToken === null || call.endedAt !== null)
    return xmlOf(carrier.sayAndHangUp(GOODBYE));
  const { joinToken } = call;
  const first = { brokenStreams: 0, issuedAtMs: nowMs() };
  return xmlOf(carrier.connectTo(streamOf(publicUrl(), transfer.carrier, { callId, joinToken }, first)));
}

/** The row as it is now; null: the call was deleted. */
export function nowOf({ db }: TransferRequestDeps, { transferId }: TransferRow): Promise<TransferRow | null> {
  return getTransfer(db, transferId);
}
