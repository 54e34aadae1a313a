/** The instructions that a carrier fetches: when a dialled call is answered, and when a stream is over. */

import { CONFIGURED_CARRIERS, type ConfiguredCarrier } from "@parley/schema";
import type { CarrierRequest } from "../ports/carriers.ts";
import { getCall, type CallRow } from "../store/calls/calls.ts";
import { ownerOfCall } from "../store/telephony/call-owners.ts";
import { readTelephonyConfigs } from "../store/telephony/telephony-configs.ts";
import { FORBIDDEN, WRONG_SIGNATURE, type CarrierReply, type CarrierRequests } from "./api.ts";
import { takeStatus, type CallbackDeps } from "./callbacks.ts";
import { isReturnUrl, nextStream, readReturn, streamOf, type StreamReturn } from "./stream-returns.ts";

export interface InstructionDeps extends CallbackDeps {
  readonly publicUrl: () => string;
}

export function createInstructions(deps: InstructionDeps): Pick<CarrierRequests, "instruct"> {
  return {
    instruct: (callId, request) =>
      isReturnUrl(request.url) ? afterStream(deps, callId, request) : onAnswer(deps, callId, request),
  };
}

/** The carrier has an answered call, and its request to dial could not hold the instructions. */
async function onAnswer(
  deps: InstructionDeps,
  callId: string,
  request: CarrierRequest,
): Promise<CarrierReply> {
  const taken = await takeStatus(deps, callId, request);
  if ("kind" in taken) return taken;
  const { dial, carrier } = taken;
  const call = await getCall(deps.db, dial.accountId, callId);
  if (call === null || call.joinToken === null || call.endedAt !== null) {
    return { kind: "xml", xml: carrier.sayAndHangUp("Sorry, this call is over. Goodbye.") };
  }
  const first = { brokenStreams: 0, issuedAtMs: deps.nowMs() };
  const stream = streamOf(deps.publicUrl(), dial.carrier, { callId, joinToken: call.joinToken }, first);
  return { kind: "xml", xml: carrier.connectTo(stream) };
}

/** The same stream again while the call goes on here, and the end of the call otherwise. */
async function afterStream(
  deps: InstructionDeps,
  callId: string,
  request: CarrierRequest,
): Promise<CarrierReply> {
  const { db, carriers, publicUrl, nowMs, logger } = deps;
  const claimed = CONFIGURED_CARRIERS.find((name) => carriers[name].claims(request.headers));
  if (claimed === undefined) return FORBIDDEN;
  const owner = await ownerOfCall(db, callId);
  // Calls may be deleted at their end; a carrier reads other answers aloud as an error.
  if (owner === null) return { kind: "xml", xml: carriers[claimed].hangUpXml, isUnsigned: true };
  const call = await getCall(db, owner.accountId, callId);
  if (call === null) return FORBIDDEN;
  const known = await verified(deps, claimed, call, request);
  if (known === null) return WRONG_SIGNATURE;
  if (known.isOver) return { kind: "xml", xml: carriers[claimed].hangUpXml };
  const next = nextStream(known.previous, nowMs());
  if (next === null) {
    logger.warn(
      { callId, carrier: claimed },
      "a call is ended at its carrier, because its streams break at once",
    );
    return { kind: "xml", xml: carriers[claimed].hangUpXml };
  }
  const { joinToken } = known;
  return {
    kind: "xml",
    xml: carriers[claimed].connectTo(streamOf(publicUrl(), claimed, { callId, joinToken }, next)),
  };
}

interface VerifiedReturn {
  readonly previous: StreamReturn;
  readonly joinToken: string;
  readonly isOver: boolean;
}

/** Null: the URL is not one of this call, or the signature is not one of its account at its carrier. */
async function verified(
  { db, carriers, nowMs }: InstructionDeps,
  carrier: ConfiguredCarrier,
  { callId, accountId, mediumKind, joinToken, endedAt }: CallRow,
  request: CarrierRequest,
): Promise<VerifiedReturn | null> {
  if (mediumKind !== carrier || joinToken === null) return null;
  const previous = readReturn(request.url, { callId, joinToken });
  if (previous === null) return null;
  const account = (await readTelephonyConfigs(db, accountId))[carrier];
  if (account === undefined || !carriers[carrier].isSigned(account, request, nowMs())) return null;
  return { previous, joinToken, isOver: endedAt !== null };
}
