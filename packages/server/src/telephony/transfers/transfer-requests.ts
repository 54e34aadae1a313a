/**
 * What carriers request about transfers: instructions for the caller and for the called person, and reports of their
 * progress. They may come twice, late, in any order, and to any process.
 */

import type { Logger } from "pino";
import type { Carrier, CarrierRequest, Carriers } from "../../ports/carriers.ts";
import type { TransferEnd } from "../../ports/carrier-transfers.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import { getCall } from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";
import {
  advanceTransfer,
  getTransfer,
  type TransferRow,
  type TransferState,
} from "../../store/telephony/call-transfers.ts";
import { noteProgress } from "../../store/telephony/carrier-dials.ts";
import { readTelephonyConfigs } from "../../store/telephony/telephony-configs.ts";
import type { CarrierReply, CarrierRequests } from "../api.ts";
import { streamOf } from "../stream-returns.ts";
import type { TransferOrder } from "./transfer-order.ts";
import { TRANSFER_STEPS, transferUrlOf, type TransferStep } from "./transfer-urls.ts";
import type { TransferWaits } from "./transfer-waits.ts";

export interface TransferRequestDeps {
  readonly db: Db;
  readonly carriers: Carriers;
  readonly publicUrl: () => string;
  readonly liveCalls: Pick<LiveCalls, "endCall">;
  readonly waits: TransferWaits;
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, "warn" | "info">;
}

/** How long the other phone rings. Twilio adds 5 s. */
export const RING_MS = 30_000;
/** The longest conversation after a transfer: the longest that all carriers take. */
export const LONGEST_TALK_MS = 14_400_000;

const FORBIDDEN: CarrierReply = { kind: "forbidden" };
const DONE: CarrierReply = { kind: "done" };
const WAITING: readonly TransferState[] = ["dialling", "answered"];
const GOODBYE = "Sorry, this call is over. Goodbye.";

/** Why a transfer has failed, in the words that the model gets. */
const FAILURES: Readonly<Record<TransferEnd["result"], string>> = {
  completed: "the called person did not take the call",
  busy: "the line was busy",
  no_answer: "nobody answered",
  failed: "the carrier could not connect the call",
  canceled: "the attempt was canceled",
};

interface Verified {
  readonly transfer: TransferRow;
  readonly order: TransferOrder;
  readonly carrier: Carrier;
  readonly fields: ReadonlyMap<string, string>;
}

export function createTransferRequests(deps: TransferRequestDeps): Pick<CarrierRequests, "transfer"> {
  return {
    async transfer(transferId, wanted, request) {
      const step = TRANSFER_STEPS.find((name) => name === wanted);
      if (step === undefined) return FORBIDDEN;
      const verified = await verify(deps, transferId, request);
      if (verified === null) return FORBIDDEN;
      const { carrier, fields, transfer } = verified;
      const isCallers = step === "instructions" || step === "end";
      // Requests about the called person's call have an id of their own.
      if (isCallers && carrier.readCallId(fields) !== transfer.carrierCallId) return FORBIDDEN;
      return STEPS[step](deps, verified);
    },
  };
}

/** Null: there is no such transfer, or the signature is not one of its account. */
async function verify(
  { db, carriers, nowMs }: TransferRequestDeps,
  transferId: string,
  request: CarrierRequest,
): Promise<Verified | null> {
  const transfer = await getTransfer(db, transferId);
  if (transfer === null) return null;
  const account = (await readTelephonyConfigs(db, transfer.accountId))[transfer.carrier];
  const carrier = carriers[transfer.carrier];
  if (account === undefined || !carrier.isSigned(account, request, nowMs())) return null;
  const fields = carrier.readFields(request);
  if (fields === null) return null;
  // Only this service has written it.
  return { transfer, order: transfer.order as TransferOrder, carrier, fields };
}

type Step = (deps: TransferRequestDeps, verified: Verified) => Promise<CarrierReply>;

const STEPS: Readonly<Record<TransferStep, Step>> = {
  async instructions(deps, verified) {
    const { transfer, order, carrier } = verified;
    const { transferId } = transfer;
    const isBegun = await advance(deps, transfer, ["requested"], "dialling");
    // A carrier that has lost the answer asks again.
    if (!isBegun && transfer.state !== "dialling") return toAgent(deps, verified);
    const urlOf = (step: TransferStep): string => transferUrlOf(deps.publicUrl(), transferId, step);
    const xml = carrier.transfers.dial(order.target, {
      endUrl: urlOf("end"),
      progressUrl: urlOf("progress"),
      questionUrl: order.question === null ? null : urlOf("question"),
      musicUrl: order.target.holdMusicUrl === null ? null : urlOf("music"),
      ringTimeoutMs: RING_MS,
      maxDurationMs: LONGEST_TALK_MS,
    });
    return { kind: "xml", xml };
  },
  async end(deps, verified) {
    const { transfer, order, carrier, fields } = verified;
    const end = carrier.transfers.readEnd(fields);
    const isOver = end?.isCallerGone === true;
    await noteEnd(deps, transfer, end);
    // A blind transfer whose answer was not reported has succeeded as well.
    if (order.question === null && end?.result === "completed" && !isOver)
      await advance(deps, transfer, WAITING, "connected");
    const failure = FAILURES[end?.result ?? "failed"];
    await advance(
      deps,
      transfer,
      ["requested", ...WAITING],
      "failed",
      isOver ? "the caller has hung up" : failure,
    );
    if (isOver) deps.liveCalls.endCall(transfer.callId);
    const now = await getTransfer(deps.db, transfer.transferId);
    if (isOver || now === null || now.state === "connected") return xmlOf(carrier.hangUpXml);
    return toAgent(deps, verified);
  },
  async progress(deps, { transfer, order, carrier, fields }) {
    const progress = carrier.transfers.readProgress(fields);
    if (progress === "accepted" || (progress === "answered" && order.question === null)) {
      await advance(deps, transfer, WAITING, "connected");
      await noteTalk(deps, transfer, null);
    } else if (progress === "answered") await advance(deps, transfer, ["dialling"], "answered");
    const status = carrier.readStatus(fields);
    const talkedMs = status?.talkedMs ?? null;
    if (talkedMs !== null) await noteTalk(deps, transfer, talkedMs);
    return DONE;
  },
  async question(deps, { transfer, order, carrier }) {
    if (order.question === null || !WAITING.includes(transfer.state)) return xmlOf(carrier.hangUpXml);
    await advance(deps, transfer, ["dialling"], "answered");
    const answerUrl = transferUrlOf(deps.publicUrl(), transfer.transferId, "answer");
    return xmlOf(carrier.transfers.question({ ...order.question, answerUrl }));
  },
  async answer(deps, { transfer, order, carrier, fields }) {
    const { transfers } = carrier;
    if (order.question === null || !transfers.isAccepted(fields)) return xmlOf(carrier.hangUpXml);
    const isAccepted =
      (await advance(deps, transfer, WAITING, "connected")) || transfer.state === "connected";
    if (isAccepted) await noteTalk(deps, transfer, null);
    return xmlOf(isAccepted ? transfers.accepted : carrier.hangUpXml);
  },
  music(_deps, { order, carrier }) {
    const { holdMusicUrl } = order.target;
    const { transfers } = carrier;
    return Promise.resolve(xmlOf(holdMusicUrl === null ? carrier.hangUpXml : transfers.music(holdMusicUrl)));
  },
};

function xmlOf(xml: string): CarrierReply {
  return { kind: "xml", xml };
}

async function advance(
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
async function toAgent(
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

/** For the limits of the day. */
async function noteEnd(
  deps: TransferRequestDeps,
  transfer: TransferRow,
  end: TransferEnd | null,
): Promise<void> {
  const result = end?.result ?? "failed";
  await noteDial(deps, transfer, {
    isAnswered: result === "completed",
    result,
    talkedMs: end?.talkedMs ?? null,
  });
}

async function noteTalk(
  deps: TransferRequestDeps,
  transfer: TransferRow,
  talkedMs: number | null,
): Promise<void> {
  await noteDial(deps, transfer, { isAnswered: true, result: null, talkedMs });
}

async function noteDial(
  { db }: TransferRequestDeps,
  { accountId, transferId }: TransferRow,
  noted: {
    readonly isAnswered: boolean;
    readonly result: TransferEnd["result"] | null;
    readonly talkedMs: number | null;
  },
): Promise<void> {
  await noteProgress(db, accountId, transferId, { ...noted, carrierCallId: null, detail: null });
}
