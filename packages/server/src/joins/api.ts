/** The types by which the HTTP API joins calls: the look-up, the connection and the signalling of WebRTC. */

import type { WebSocket } from "ws";
import type { ConnectOutcome as CallConnectOutcome } from "../runner/live-calls.ts";

/**
 * `closed`: the other side closed before the call had it. `not_understood`: a carrier's stream that cannot be served;
 * `reason` ends a sentence that begins with "The stream". The call still waits for its join in both cases.
 */
export type ConnectOutcome =
  CallConnectOutcome | "closed" | { readonly kind: "not_understood"; readonly reason: string };

export interface FindJoinInput {
  readonly callId: string;
  /** Neutral path spelling: web_rtc, server_web_socket, telephony1..telephony4. */
  readonly medium: string;
  readonly token: string;
  /** A request of a connection that exists, or is thought to: nothing is claimed, and only `not_found` counts. */
  readonly isOfConnection?: boolean;
}

/**
 * `ok`: waits for its join. `lost`: was connected and may return within its grace, also while draining. `joined`:
 * connected now. `gone`: after the join timeout or the end. `not_found`: any part of the URL is wrong. `elsewhere`:
 * the client may return to another node, or that one cannot be reached. `orphaned`: its process is gone, and this one cannot go on with it. `full`, `draining`: this node takes no further call.
 */
export type JoinLookup =
  "ok" | "lost" | "joined" | "gone" | "not_found" | "elsewhere" | "orphaned" | "full" | "draining";

export interface ConnectCallInput {
  readonly callId: string;
  /** Of the join URL, in its neutral spelling. */
  readonly medium: string;
  readonly socket: WebSocket;
  readonly query: JoinQuery;
  /** The call is one over WebRTC whose client requests a websocket instead, and buffers audio not yet played. */
  readonly keepsAudio: boolean;
}

/** Joins by WebRTC. `findJoin` has checked the call and its token before. */
export interface WebRtcSignalling {
  /** Values of `Link` headers that name the STUN and TURN servers. */
  readonly iceServerLinks: readonly string[];
  readonly offer: (input: WebRtcOffer) => Promise<WebRtcAnswer>;
  /** `text` is a fragment (RFC 8840): candidates, or new credentials for a restart. */
  readonly patch: (connection: WebRtcConnection, text: string) => Promise<WebRtcPatched>;
  /** A further offer of a connection to a room. */
  readonly renegotiate: (connection: WebRtcConnection, sdp: string) => Promise<WebRtcRenegotiated>;
  /** `elsewhere`: the node that runs the call cannot be reached. */
  readonly hangUp: (connection: WebRtcConnection) => Promise<"done" | "unknown" | "elsewhere">;
}

export interface WebRtcOffer {
  readonly callId: string;
  readonly sdp: string;
  readonly query: JoinQuery;
  /** The offer is of a client that joins a room, and the connection gets this id. Unset: of our own clients. */
  readonly roomConnectionId?: string;
}

export interface WebRtcConnection {
  readonly callId: string;
  readonly connectionId: string;
}

export type WebRtcAnswer =
  | { readonly kind: "answered"; readonly sdp: string; readonly connectionId: string }
  /** `reason` ends a sentence that begins with "The offer". */
  | { readonly kind: "refused"; readonly reason: string }
  /** `pending`: another offer of the call is being answered. `elsewhere`: its node cannot be reached. */
  | { readonly kind: "joined" | "gone" | "no_capacity" | "pending" | "elsewhere" }
  /** More offers than a minute allows. */
  | { readonly kind: "too_many"; readonly waitMs: number };

export type WebRtcPatched =
  /** Null: the candidates were taken. */
  | { readonly kind: "taken"; readonly fragment: string | null }
  | { readonly kind: "refused"; readonly reason: string }
  /** More restarts than a minute allows, or too many requests of the connection at a time. */
  | { readonly kind: "too_many"; readonly waitMs: number }
  | { readonly kind: "unknown" }
  /** The node that runs the call cannot be reached. */
  | { readonly kind: "elsewhere" };

export type WebRtcRenegotiated =
  | { readonly kind: "answered"; readonly sdp: string }
  | Extract<WebRtcPatched, { readonly kind: "refused" | "too_many" | "unknown" | "elsewhere" }>;

/** Joins by clients that expect a LiveKit room (D116). `findJoin` has checked the call and its token before. */
export interface Rooms {
  /** Sends `room_info` on a socket at the join URL. `connected`: the socket belongs to the room now. */
  readonly open: (input: OpenRoomInput) => Promise<CallConnectOutcome>;
  /** 0: another socket of signalling may be opened for the call, and counts. Otherwise the wait until it may. */
  readonly waitToSignal: (callId: string) => number;
  /** Takes over a socket of signalling whose token was checked. */
  readonly signal: (input: RoomSignalInput) => Promise<void>;
}

export interface OpenRoomInput {
  readonly callId: string;
  readonly socket: WebSocket;
  readonly query: JoinQuery;
  /** Where the client connects its signalling, and with what. */
  readonly roomUrl: string;
  readonly token: string;
  /** Called when media flow. */
  readonly joined: () => void;
}

export interface RoomSignalInput {
  readonly callId: string;
  readonly socket: WebSocket;
  /** `join_request` of the URL. */
  readonly joinRequest: string;
  /** Called when an offer was answered. */
  readonly answered: () => void;
}

export interface JoinQuery {
  /** At most 120 characters; longer ones are cut. */
  readonly clientVersion: string | null;
  readonly apiVersion: string | null;
  /** The comma list of `experimentalMessages`, trimmed; empty when absent. */
  readonly experimentalMessages: readonly string[];
}
