/** Resolves a join URL to a call, and connects a websocket to its call. */

import { DEFAULT_CLIENT_BUFFER_MS, isCarrierKind, pathOfMedium, type CarrierKind } from "@parley/schema";
import type { LiveCalls, OpenTransport } from "../runner/live-calls.ts";
import { getJoinTarget, matchesJoinToken } from "../store/calls/join-targets.ts";
import type { Db } from "../store/database/db.ts";
import { awaitCarrierStream } from "../transports/telephony/carrier-stream.ts";
import type { CarrierCodec } from "../transports/telephony/codec.ts";
import type { CarrierCodecs } from "../transports/telephony/codecs.ts";
import { openWebSocketTransport } from "../transports/websocket/websocket-transport.ts";
import type { ConnectCallInput, ConnectOutcome, FindJoinInput, JoinLookup } from "./api.ts";
import { claimJoin, joinedElsewhere, type ClaimDeps } from "./claim-join.ts";

/** A websocket in the place of WebRTC has the same join timeout as others, and the usual buffer. */
const INSTEAD_OF_WEB_RTC = { clientBufferSizeMs: DEFAULT_CLIENT_BUFFER_MS, graceMs: 10_000 };

export interface FindJoinDeps extends ClaimDeps {
  readonly db: Db;
  /** This node. */
  readonly nodeId: string;
}

/** Whether the call can be joined by this URL, in this process; a call that nobody has joined is claimed for it. */
export async function findJoin(deps: FindJoinDeps, join: FindJoinInput): Promise<JoinLookup> {
  const { db, liveCalls } = deps;
  const { callId, isOfConnection = false } = join;
  const call = await getJoinTarget(db, callId);
  if (call === null || !matchesJoinToken(call, join.token)) return "not_found";
  if (pathOfMedium(call.mediumKind) !== join.medium) return "not_found";
  if (isOfConnection) return "ok";
  if (call.hasEnded) return "gone";
  const isJoined = call.joinedAtMs !== null;
  // What this node has kept ready until another one has claimed it is not the call any more.
  const state = call.nodeId === deps.nodeId ? liveCalls.joinState(callId) : "not_live";
  // A connection that seems alive is checked when the next one arrives: the runner does that.
  if (state === "connected" || (state === "joinable" && isJoined)) return "lost";
  return isJoined ? joinedElsewhere(deps, callId) : claimJoin(deps, callId);
}

/** A call that goes on at its carrier though its stream was closed here. */
export interface LeftCall {
  readonly accountId: string;
  readonly callId: string;
  readonly carrier: CarrierKind;
  readonly carrierCallId: string;
}

export interface ConnectDeps {
  readonly liveCalls: LiveCalls;
  readonly codecs: CarrierCodecs;
  /** The carrier's id of a call, where the service has dialled it or was notified of it; null: it is not known. */
  readonly carrierCallOf: (callId: string) => Promise<string | null>;
  /** Ends a call at its carrier. Never throws. */
  readonly hangUp: (call: LeftCall) => void;
}

/** Connects an upgraded websocket to the call; that of a carrier once its stream has begun. */
export function connectCall(
  { liveCalls, codecs, hangUp, carrierCallOf }: ConnectDeps,
  input: ConnectCallInput,
): Promise<ConnectOutcome> {
  const { callId, medium: kind, socket, query, keepsAudio } = input;
  if (isCarrierKind(kind)) return connectCarrier({ liveCalls, hangUp, carrierCallOf }, codecs[kind], input);
  const open: OpenTransport = (medium, listener) =>
    openWebSocketTransport(socket, keepsAudio ? { ...medium, ...INSTEAD_OF_WEB_RTC } : medium, listener);
  return liveCalls.connectCall(callId, open, { ...query, keepsAudio });
}

/** The rates of a call are those of its first connection, so a call is joined by the start of the stream. */
async function connectCarrier(
  { liveCalls, hangUp, carrierCallOf }: Omit<ConnectDeps, "codecs">,
  codec: CarrierCodec,
  { callId, socket, query }: ConnectCallInput,
): Promise<ConnectOutcome> {
  const opening = await awaitCarrierStream(socket, codec);
  if (opening.kind === "closed") return "closed";
  if (opening.kind === "refused") return { kind: "not_understood", reason: opening.reason };
  const { stream } = opening;
  const { carrierCallId } = stream.start;
  // The service ends the call of this name at its carrier, so it must not be that of somebody else.
  if (codec.outlivesStream && carrierCallId !== null) {
    const known = await carrierCallOf(callId);
    if (known !== null && known !== carrierCallId) {
      stream.leave();
      return { kind: "not_understood", reason: "names another call of its carrier" };
    }
  }
  const accountId = liveCalls.accountOf(callId);
  const left =
    accountId === null || carrierCallId === null
      ? null
      : { accountId, callId, carrier: codec.kind, carrierCallId };
  const open: OpenTransport = ({ returns = false }, listener) => {
    // Instructions of the service end the call by themselves. A stream that another one replaces is no end.
    if (left === null || returns || !codec.outlivesStream) return stream.open(listener, { returns });
    const closedHere = (): void => {
      if (liveCalls.joinState(callId) === "not_live") hangUp(left);
    };
    return stream.open(listener, { returns, closedHere });
  };
  const outcome = await liveCalls.connectCall(callId, open, { ...query, carrierCallId });
  if (outcome !== "connected") stream.leave();
  return outcome;
}
