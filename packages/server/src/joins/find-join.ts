/** Resolves a join URL to a call, and connects a websocket to its call. */

import { DEFAULT_CLIENT_BUFFER_MS } from "@parley/schema";
import type { LiveCalls, OpenTransport } from "../runner/live-calls.ts";
import { getJoinTarget, matchesJoinToken } from "../store/calls/calls.ts";
import type { Db } from "../store/database/db.ts";
import { openWebSocketTransport } from "../transports/websocket/websocket-transport.ts";
import type { ConnectCallInput, ConnectOutcome, FindJoinInput, JoinLookup } from "./api.ts";

/** Path spelling of each medium that can be joined by a URL here. */
const MEDIUM_PATHS: Readonly<Record<string, string>> = {
  serverWebSocket: "server_web_socket",
  webRtc: "web_rtc",
};

/** A websocket in the place of WebRTC has the same join timeout as others, and the usual buffer. */
const INSTEAD_OF_WEB_RTC = { clientBufferSizeMs: DEFAULT_CLIENT_BUFFER_MS, graceMs: 10_000 };

/** Whether the call can be joined by this URL. */
export async function findJoin(db: Db, liveCalls: LiveCalls, join: FindJoinInput): Promise<JoinLookup> {
  const call = await getJoinTarget(db, join.callId);
  if (call === null || !matchesJoinToken(call, join.token)) return "not_found";
  if (MEDIUM_PATHS[call.mediumKind] !== join.medium) return "not_found";
  const state = liveCalls.joinState(join.callId);
  if (state === "not_live") return "gone";
  // A connection that seems alive is checked when the next one arrives: the runner does that.
  return state === "connected" || call.joinedAtMs !== null ? "lost" : "ok";
}

/** Connects an upgraded websocket to the call. */
export function connectCall(liveCalls: LiveCalls, input: ConnectCallInput): Promise<ConnectOutcome> {
  const { callId, socket, query, keepsAudio } = input;
  const open: OpenTransport = (medium, listener) =>
    openWebSocketTransport(socket, keepsAudio ? { ...medium, ...INSTEAD_OF_WEB_RTC } : medium, listener);
  return liveCalls.connectCall(callId, open, { ...query, keepsAudio });
}
