/** The signalling messages of LiveKit, read and written. Nothing is kept here. */

import { gunzipSync } from "node:zlib";
import {
  Codec,
  DisconnectReason,
  ICEServer,
  JoinRequest,
  JoinResponse,
  LeaveRequest,
  LeaveRequest_Action,
  Pong,
  ReconnectResponse,
  Room,
  ServerInfo,
  SessionDescription,
  SignalRequest,
  SignalResponse,
  TrackInfo,
  TrackPublishedResponse,
  TrackSource,
  TrackType,
  WrappedJoinRequest,
  WrappedJoinRequest_Compression,
} from "@livekit/protocol";
import { fieldsOf, KNOWN_FIELDS, reduced, type UsedFields } from "./bounded-message.ts";
import { agentParticipant, userParticipant } from "./participants.ts";
import { AGENT_TRACK_SID } from "./room-sdp.ts";

/** A message that cannot be used; `message` ends a sentence that begins with "The signalling message". */
export class BadSignalError extends Error {
  override readonly name = "BadSignalError";
}

/** A request to join has 2 to 4 KB; the offer in it may have 64 KB. */
const MAX_JOIN_BYTES = 80 * 1024;
/** `type`, `sdp` and `id`. */
const USED_OF_OFFER = { 1: null, 2: null, 3: null };
/** `compression` and `joinRequest`. */
const USED_OF_WRAPPED = { 1: null, 2: null };
/** `clientInfo` with `sdk` and `version`, `publisherOffer`, `reconnect` and `participantSid`. */
const USED_OF_JOIN: UsedFields = { 1: { 1: null, 2: null }, 6: USED_OF_OFFER, 7: null, 9: null };
/** `offer`, `addTrack`, `leave`, `ping` and `pingReq`. */
const USED_OF_SIGNAL: UsedFields = {
  1: USED_OF_OFFER,
  // `cid`, `name`, `type`, `muted`, `source` and `stream`.
  4: { 1: null, 2: null, 3: null, 6: null, 8: null, 15: null },
  8: {},
  14: null,
  16: { 1: null },
};
/** Names that clients give to their tracks. */
const MAX_NAME_LENGTH = 256;

/** Of servers that speak these messages. Clients compare it to know what a server can do. */
const SERVER_VERSION = "1.9.0";
const SERVER_PROTOCOL = 16;
/** Seconds. A client whose ping is not answered for the first time connects again. */
const PING_TIMEOUT_S = 15;
const PING_INTERVAL_S = 5;

export interface JoinRequestRead {
  /** The client continues a connection that it has. */
  readonly isReconnect: boolean;
  /** The name of the participant that continues; empty otherwise. */
  readonly participantSid: string;
  readonly offer: OfferRead | null;
  readonly client: string;
}

export interface OfferRead {
  readonly id: number;
  readonly sdp: string;
}

export type SignalRead =
  | { readonly kind: "offer"; readonly offer: OfferRead }
  | { readonly kind: "track"; readonly track: AddedTrack }
  | { readonly kind: "ping"; readonly timestampMs: bigint; readonly isOld: boolean }
  | { readonly kind: "leave" }
  /** Of a kind that changes nothing here. */
  | { readonly kind: "other" };

export interface AddedTrack {
  readonly cid: string;
  readonly name: string;
  readonly stream: string;
  readonly isMuted: boolean;
  readonly isMicrophone: boolean;
}

/** `join_request` of the URL. @throws BadSignalError */
export function readJoinRequest(text: string): JoinRequestRead {
  return reading("is not a join request", () => {
    const wrapped = WrappedJoinRequest.fromBinary(
      reduced(Buffer.from(text, "base64url"), USED_OF_WRAPPED),
      KNOWN_FIELDS,
    );
    const isZipped = wrapped.compression === WrappedJoinRequest_Compression.GZIP;
    const bytes = isZipped
      ? gunzipSync(wrapped.joinRequest, { maxOutputLength: MAX_JOIN_BYTES })
      : wrapped.joinRequest;
    const { reconnect, participantSid, publisherOffer, clientInfo } = JoinRequest.fromBinary(
      reduced(bytes, USED_OF_JOIN),
      KNOWN_FIELDS,
    );
    return {
      isReconnect: reconnect,
      participantSid,
      offer: publisherOffer === undefined ? null : offerOf(publisherOffer),
      client: `${clientInfo?.sdk ?? 0}/${shortened(clientInfo?.version ?? "")}`,
    };
  });
}

/** @throws BadSignalError */
export function readSignal(bytes: Uint8Array): SignalRead {
  const { message } = reading("is not a request", () => {
    // One field alone: the library would read each of several, and give the last.
    const [field] = fieldsOf(bytes, 1);
    const isUsed = field !== undefined && field.number in USED_OF_SIGNAL;
    const used = isUsed ? reduced(bytes, USED_OF_SIGNAL) : new Uint8Array();
    return SignalRequest.fromBinary(used, KNOWN_FIELDS);
  });
  if (message.case === "offer") return { kind: "offer", offer: offerOf(message.value) };
  if (message.case === "addTrack") {
    const { cid, name, stream, muted, type, source } = message.value;
    const isMicrophone = type === TrackType.AUDIO && source !== TrackSource.SCREEN_SHARE_AUDIO;
    const texts = { cid: shortened(cid), name: shortened(name), stream: shortened(stream) };
    return { kind: "track", track: { ...texts, isMuted: muted, isMicrophone } };
  }
  if (message.case === "ping") return { kind: "ping", timestampMs: message.value, isOld: true };
  if (message.case === "pingReq") {
    return { kind: "ping", timestampMs: message.value.timestamp, isOld: false };
  }
  return { kind: message.case === "leave" ? "leave" : "other" };
}

function offerOf({ type, sdp, id }: SessionDescription): OfferRead {
  if (type !== "offer") throw new BadSignalError("has a description that is not an offer");
  return { id, sdp };
}

/** What the library throws for bytes that it cannot read, a stack that is too deep included. */
function reading<Value>(problem: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadSignalError) throw error;
    throw new BadSignalError(problem, { cause: error });
  }
}

function shortened(text: string): string {
  return text.slice(0, MAX_NAME_LENGTH);
}

export interface IceServerPart {
  readonly urls: readonly string[];
  readonly username: string | null;
  readonly credential: string | null;
}

export interface RoomParts {
  readonly callId: string;
  readonly participantSid: string;
  readonly nowMs: number;
  readonly iceServers: readonly IceServerPart[];
}

export function joinMessage({ callId, participantSid, nowMs, iceServers }: RoomParts): Uint8Array {
  const value = new JoinResponse({
    room: new Room({ sid: `RM_${callId}`, name: callId }),
    participant: userParticipant(participantSid, nowMs),
    otherParticipants: [agentParticipant(nowMs)],
    serverVersion: SERVER_VERSION,
    serverInfo: new ServerInfo({ version: SERVER_VERSION, protocol: SERVER_PROTOCOL }),
    subscriberPrimary: false,
    pingTimeout: PING_TIMEOUT_S,
    pingInterval: PING_INTERVAL_S,
    iceServers: iceServersOf(iceServers),
    enabledPublishCodecs: [new Codec({ mime: "audio/opus" })],
  });
  return written({ case: "join", value });
}

export function reconnectMessage(iceServers: readonly IceServerPart[]): Uint8Array {
  return written({
    case: "reconnect",
    value: new ReconnectResponse({ iceServers: iceServersOf(iceServers) }),
  });
}

function iceServersOf(servers: readonly IceServerPart[]): ICEServer[] {
  return servers.map(
    ({ urls, username, credential }) =>
      new ICEServer({ urls: [...urls], username: username ?? "", credential: credential ?? "" }),
  );
}

/** @param speakingLine the mid of the line with the agent's track */
export function answerMessage(offerId: number, sdp: string, speakingLine: string): Uint8Array {
  const midToTrackId = { [speakingLine]: AGENT_TRACK_SID };
  return written({
    case: "answer",
    value: new SessionDescription({ type: "answer", sdp, id: offerId, midToTrackId }),
  });
}

/** @param sid the name that the track has in the room from now on */
export function publishedMessage(track: AddedTrack, sid: string): Uint8Array {
  const { cid, name, stream, isMuted } = track;
  const info = new TrackInfo({
    sid,
    name,
    stream,
    type: TrackType.AUDIO,
    source: TrackSource.MICROPHONE,
    muted: isMuted,
    mimeType: "audio/opus",
    // Redundant audio is not read here; lost packets are repaired by Opus itself.
    disableRed: true,
  });
  return written({ case: "trackPublished", value: new TrackPublishedResponse({ cid, track: info }) });
}

export function pongMessages(
  { timestampMs, isOld }: Extract<SignalRead, { readonly kind: "ping" }>,
  nowMs: number,
): Uint8Array {
  if (isOld) return written({ case: "pong", value: BigInt(nowMs) });
  const value = new Pong({ lastPingTimestamp: timestampMs, timestamp: BigInt(nowMs) });
  return written({ case: "pongResp", value });
}

/** `over`: the call has ended. `joined`: another connection has the call. `failed`: the room cannot be joined. */
export type LeaveCause = "over" | "joined" | "failed";

const LEAVE_REASONS: Readonly<Record<LeaveCause, DisconnectReason>> = {
  over: DisconnectReason.ROOM_DELETED,
  joined: DisconnectReason.DUPLICATE_IDENTITY,
  failed: DisconnectReason.JOIN_FAILURE,
};

/** The client leaves the room, and does not return by itself. */
export function leaveMessage(cause: LeaveCause): Uint8Array {
  const value = new LeaveRequest({ reason: LEAVE_REASONS[cause], action: LeaveRequest_Action.DISCONNECT });
  return written({ case: "leave", value });
}

function written(message: NonNullable<SignalResponse["message"]>): Uint8Array {
  return new SignalResponse({ message }).toBinary();
}
