/**
 * What carriers request about transfers: instructions for the caller and for the called person, and reports of their
 * progress. They may come twice, late, in any order, and to any process.
 */

import type { CarrierRequest } from "../../ports/carriers.ts";
import type { TransferEnd } from "../../ports/carrier-transfers.ts";
import { getTransfer, type TransferRow } from "../../store/telephony/call-transfers.ts";
import { getDial, noteProgress } from "../../store/telephony/carrier-dials.ts";
import { readTelephonyConfigs } from "../../store/telephony/telephony-configs.ts";
import { FORBIDDEN, WRONG_SIGNATURE, type CarrierReply, type CarrierRequests } from "../api.ts";
import { isClaimed } from "../callbacks.ts";
import { bridge, held, holdXml, left } from "./consultation-requests.ts";
import { LONGEST_TALK_MS, RING_MS } from "./consultations.ts";
import {
  advance,
  toAgent,
  WAITING,
  xmlOf,
  type Step,
  type TransferRequestDeps,
  type Verified,
} from "./request-steps.ts";
import type { TransferOrder } from "./transfer-order.ts";
import { TRANSFER_STEPS, transferUrlOf, type TransferStep } from "./transfer-urls.ts";

export type { TransferRequestDeps };

const DONE: CarrierReply = { kind: "done" };

/** Why a transfer has failed, in the words that the model gets. */
const FAILURES: Readonly<Record<TransferEnd["result"], string>> = {
  completed: "the called person did not take the call",
  busy: "the line was busy",
  no_answer: "nobody answered",
  failed: "the carrier could not connect the call",
  canceled: "the attempt was canceled",
};

export function createTransferRequests(deps: TransferRequestDeps): Pick<CarrierRequests, "transfer"> {
  return {
    async transfer(transferId, wanted, request) {
      const step = TRANSFER_STEPS.find((name) => name === wanted);
      if (step === undefined) return FORBIDDEN;
      const verified = await verify(deps, transferId, request);
      if ("kind" in verified) return verified;
      return (await isAboutItsCall(deps, step, verified)) ? STEPS[step](deps, verified) : WRONG_SIGNATURE;
    },
  };
}

/** `forbidden`: there is no such transfer, or the signature is not one of its account. */
async function verify(
  { db, carriers, nowMs }: TransferRequestDeps,
  transferId: string,
  request: CarrierRequest,
): Promise<Verified | CarrierReply> {
  if (!isClaimed(carriers, request)) return FORBIDDEN;
  const transfer = await getTransfer(db, transferId);
  if (transfer === null) return FORBIDDEN;
  const account = (await readTelephonyConfigs(db, transfer.accountId))[transfer.carrier];
  const carrier = carriers[transfer.carrier];
  if (account === undefined || !carrier.isSigned(account, request, nowMs())) return WRONG_SIGNATURE;
  const fields = carrier.readFields(request);
  if (fields === null) return WRONG_SIGNATURE;
  // Only this service has written it; earlier versions without the last member.
  const stored = transfer.order as Omit<TransferOrder, "consultation"> & Partial<TransferOrder>;
  const order = { ...stored, consultation: stored.consultation ?? null };
  return { transfer, order, carrier, fields };
}

/** Steps of transfers in which the agent talks with the called person, and of those in which the carrier dials. */
const OF_CONSULTATIONS: ReadonlySet<TransferStep> = new Set<TransferStep>(["held", "bridge", "left"]);
const OF_DIALS: ReadonlySet<TransferStep> = new Set<TransferStep>(["end", "progress", "question", "answer"]);

/** Whether the request is about the call that the step is for. */
async function isAboutItsCall(
  { db }: TransferRequestDeps,
  step: TransferStep,
  { carrier, fields, transfer, order }: Verified,
): Promise<boolean> {
  const id = carrier.readCallId(fields);
  const foreign = order.consultation === null ? OF_CONSULTATIONS : OF_DIALS;
  if (foreign.has(step)) return false;
  if (step === "instructions" || step === "end" || step === "held") return id === transfer.carrierCallId;
  // Other requests about the called person's call have an id that the carrier has made.
  if (step !== "bridge" && step !== "left") return true;
  if (transfer.consultCallId === null) return false;
  return id !== null && id === (await getDial(db, transfer.consultCallId))?.carrierCallId;
}

const STEPS: Readonly<Record<TransferStep, Step>> = {
  async instructions(deps, verified) {
    const { transfer, order, carrier } = verified;
    const { transferId } = transfer;
    const isBegun = await advance(deps, transfer, ["requested"], "dialling");
    // A carrier that has lost the answer asks again.
    if (!isBegun && transfer.state !== "dialling") return toAgent(deps, verified);
    if (order.consultation !== null) return holdXml(deps, verified);
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
    if (holdMusicUrl === null) return Promise.resolve(xmlOf(carrier.hangUpXml));
    return Promise.resolve(xmlOf(transfers.music(holdMusicUrl, order.consultation !== null)));
  },
  held,
  bridge,
  left,
};

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
