/** Resolves a join URL to a call, and connects a websocket to its call. */

import { DEFAULT_CLIENT_BUFFER_MS, isCarrierKind, pathOfMedium } from "@parley/schema";
import type { LiveCalls, OpenTransport } from "../runner/live-calls.ts";
import { getJoinTarget, matchesJoinToken } from "../store/calls/calls.ts";
import type { Db } from "../store/database/db.ts";
import { awaitCarrierStream } from "../transports/telephony/carrier-stream.ts";
import type { CarrierCodec } from "../transports/telephony/codec.ts";
import type { CarrierCodecs } from "../transports/telephony/codecs.ts";
import { openWebSocketTransport } from "../transports/websocket/websocket-transport.ts";
import type { ConnectCallInput, ConnectOutcome, FindJoinInput, JoinLookup } from "./api.ts";

/** A websocket in the place of WebRTC has the same join timeout as others, and the usual buffer. */
const INSTEAD_OF_WEB_RTC = { clientBufferSizeMs: DEFAULT_CLIENT_BUFFER_MS, graceMs: 10_000 };

/** Whether the call can be joined by this URL. */
export async function findJoin(db: Db, liveCalls: LiveCalls, join: FindJoinInput): Promise<JoinLookup> {
  const call = await getJoinTarget(db, join.callId);
  if (call === null || !matchesJoinToken(call, join.token)) return "not_found";
  if (pathOfMedium(call.mediumKind) !== join.medium) return "not_found";
  const state = liveCalls.joinState(join.callId);
  if (state === "not_live") return "gone";
  // A connection that seems alive is checked when the next one arrives: the runner does that.
  return state === "connected" || call.joinedAtMs !== null ? "lost" : "ok";
}

/** Connects an upgraded websocket to the call; that of a carrier once its stream has begun. */
export function connectCall(
  liveCalls: LiveCalls,
  codecs: CarrierCodecs,
  input: ConnectCallInput,
): Promise<ConnectOutcome> {
  const { callId, medium: kind, socket, query, keepsAudio } = input;
  if (isCarrierKind(kind)) return connectCarrier(liveCalls, codecs[kind], input);
  const open: OpenTransport = (medium, listener) =>
    openWebSocketTransport(socket, keepsAudio ? { ...medium, ...INSTEAD_OF_WEB_RTC } : medium, listener);
  return liveCalls.connectCall(callId, open, { ...query, keepsAudio });
}

/** The rates of a call are those of its first connection, so a call is joined by the start of the stream. */
async function connectCarrier(
  liveCalls: LiveCalls,
  codec: CarrierCodec,
  { callId, socket, query }: ConnectCallInput,
): Promise<ConnectOutcome> {
  const opening = await awaitCarrierStream(socket, codec);
  if (opening.kind === "closed") return "closed";
  if (opening.kind === "refused") return { kind: "not_understood", reason: opening.reason };
  const { stream } = opening;
  const outcome = await liveCalls.connectCall(callId, (_medium, listener) => stream.open(listener), query);
  if (outcome !== "connected") stream.leave();
  return outcome;
}
