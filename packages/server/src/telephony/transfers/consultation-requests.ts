/** What carriers request about the conference of a warm transfer: the caller waits in it, and the called person comes. */

import type { Conference } from "../../ports/carrier-transfers.ts";
import type { CarrierReply } from "../api.ts";
import { getDial } from "../../store/telephony/carrier-dials.ts";
import { CALLER_GONE, HOLD_ENDED } from "./consulted-transfers.ts";
import { LONGEST_TALK_MS } from "./consultations.ts";
import { advance, nowOf, toAgent, WAITING, xmlOf, type Step, type Verified } from "./request-steps.ts";
import type { TransferRequestDeps } from "./request-steps.ts";
import { partingSentences } from "./parting-sentences.ts";
import { transferUrlOf } from "./transfer-urls.ts";

const UNCONNECTED = partingSentences(null).unconnected;

function conferenceOf(
  { publicUrl }: TransferRequestDeps,
  { transfer, order }: Verified,
  step: "held" | "left",
): Conference {
  const { transferId } = transfer;
  return {
    name: transferId,
    endUrl: transferUrlOf(publicUrl(), transferId, step),
    musicUrl: transferUrlOf(publicUrl(), transferId, "music"),
    holdMusicUrl: order.target.holdMusicUrl,
    maxDurationMs: LONGEST_TALK_MS,
  };
}

/** Instructions for the caller. */
export function holdXml(deps: TransferRequestDeps, verified: Verified): CarrierReply {
  return xmlOf(verified.carrier.transfers.hold(conferenceOf(deps, verified, "held")));
}

/** The caller has left the conference. */
export const held: Step = async (deps, verified) => {
  const { transfer, carrier, fields } = verified;
  const hasHungUp = carrier.transfers.hasHungUp(fields);
  const failure = hasHungUp ? CALLER_GONE : HOLD_ENDED;
  await advance(deps, transfer, ["requested", ...WAITING], "failed", failure);
  const { state } = (await nowOf(deps, transfer)) ?? transfer;
  // Either of the two ends the conversation, also where the other one was about to enter.
  if (state === "connected") {
    await hangUpCalled(deps, verified);
    return xmlOf(carrier.hangUpXml);
  }
  if (!hasHungUp) return toAgent(deps, verified);
  deps.liveCalls.endCall(transfer.callId);
  return xmlOf(carrier.hangUpXml);
};

/** Instructions for the called person, who takes the call. */
export const bridge: Step = async (deps, verified) => {
  const { transfer, carrier } = verified;
  const isTaken = (await advance(deps, transfer, WAITING, "connected")) || transfer.state === "connected";
  if (!isTaken) return xmlOf(carrier.sayAndHangUp(UNCONNECTED));
  return xmlOf(carrier.transfers.enter(conferenceOf(deps, verified, "left")));
};

/** The called person has left the conference. */
export const left: Step = (deps, { transfer, carrier }) => {
  const { accountId, callId, carrierCallId, state } = transfer;
  if (state === "connected") deps.hangUpLeg({ accountId, callId, carrier: transfer.carrier, carrierCallId });
  return Promise.resolve(xmlOf(carrier.hangUpXml));
};

async function hangUpCalled({ db, hangUpLeg }: TransferRequestDeps, { transfer }: Verified): Promise<void> {
  const { accountId, carrier, consultCallId: callId } = transfer;
  const carrierCallId = callId === null ? null : ((await getDial(db, callId))?.carrierCallId ?? null);
  if (callId !== null && carrierCallId !== null) hangUpLeg({ accountId, callId, carrier, carrierCallId });
}
