import { gzipSync } from "node:zlib";
import {
  AddTrackRequest,
  ClientInfo,
  JoinRequest,
  LeaveRequest,
  Ping,
  SessionDescription,
  SignalRequest,
  SignalResponse,
  TrackSource,
  TrackType,
  TrickleRequest,
  WrappedJoinRequest,
  WrappedJoinRequest_Compression,
} from "@livekit/protocol";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  answerMessage,
  BadSignalError,
  joinMessage,
  leaveMessage,
  pongMessages,
  publishedMessage,
  readJoinRequest,
  readSignal,
  reconnectMessage,
} from "./signal.ts";

const OFFER = new SessionDescription({ type: "offer", sdp: "v=0", id: 7 });
const JOIN = new JoinRequest({
  clientInfo: new ClientInfo({ version: "2.23.0" }),
  publisherOffer: OFFER,
});

function wrapped(bytes: Uint8Array, isZipped = false): Buffer {
  const compression = isZipped ? WrappedJoinRequest_Compression.GZIP : WrappedJoinRequest_Compression.NONE;
  const joinRequest = isZipped ? Uint8Array.from(gzipSync(bytes)) : Uint8Array.from(bytes);
  return Buffer.from(new WrappedJoinRequest({ compression, joinRequest }).toBinary());
}

const sent = (message: NonNullable<SignalRequest["message"]>): Uint8Array =>
  new SignalRequest({ message }).toBinary();

describe("a request to join", () => {
  test.each([true, false])("is read, compressed: %s", (isZipped) => {
    const read = readJoinRequest(wrapped(JOIN.toBinary(), isZipped).toString("base64url"));
    expect(read).toMatchObject({ isReconnect: false, offer: { id: 7, sdp: "v=0" }, client: "0/2.23.0" });
  });

  test("that is a bomb is refused", () => {
    const bomb = wrapped(Buffer.alloc(2 * 1_024 * 1_024), true);
    expect(() => readJoinRequest(bomb.toString("base64url"))).toThrow(BadSignalError);
  });

  test("with too many fields, in itself or in its offer, is refused", () => {
    const fields = Buffer.alloc(66, Uint8Array.of(0x28, 0x01));
    const offer = Buffer.concat([Uint8Array.of(0x32, fields.length), fields]);
    for (const join of [fields, offer]) {
      expect(() => readJoinRequest(wrapped(join).toString("base64url"))).toThrow(BadSignalError);
    }
  });

  test("that continues a connection is read", () => {
    const join = new JoinRequest({ reconnect: true, participantSid: "PA_x" });
    const read = readJoinRequest(wrapped(join.toBinary()).toString("base64url"));
    expect(read).toMatchObject({ isReconnect: true, participantSid: "PA_x", offer: null });
  });

  test("with a description that is no offer is refused", () => {
    const join = new JoinRequest({ publisherOffer: new SessionDescription({ type: "answer", sdp: "v=0" }) });
    expect(() => readJoinRequest(wrapped(join.toBinary()).toString("base64url"))).toThrow("not an offer");
  });
});

describe("a request", () => {
  test("is read", () => {
    expect(readSignal(sent({ case: "offer", value: OFFER }))).toEqual({
      kind: "offer",
      offer: { id: 7, sdp: "v=0" },
    });
    const track = new AddTrackRequest({
      cid: "c".repeat(1_000),
      type: TrackType.AUDIO,
      source: TrackSource.MICROPHONE,
    });
    expect(readSignal(sent({ case: "addTrack", value: track }))).toMatchObject({
      kind: "track",
      track: { cid: "c".repeat(256), isMicrophone: true },
    });
    const video = new AddTrackRequest({ type: TrackType.VIDEO });
    expect(readSignal(sent({ case: "addTrack", value: video }))).toMatchObject({
      track: { isMicrophone: false },
    });
    expect(readSignal(sent({ case: "leave", value: new LeaveRequest() }))).toEqual({ kind: "leave" });
    expect(readSignal(sent({ case: "trickle", value: new TrickleRequest() }))).toEqual({ kind: "other" });
    expect(readSignal(new Uint8Array())).toEqual({ kind: "other" });
  });

  test("keeps every part of a track that is used", () => {
    const track = { cid: "c", name: "n", stream: "s", muted: true, source: TrackSource.MICROPHONE };
    expect(readSignal(sent({ case: "addTrack", value: new AddTrackRequest(track) }))).toEqual({
      kind: "track",
      track: { cid: "c", name: "n", stream: "s", isMuted: true, isMicrophone: true },
    });
    expect(readSignal(sent({ case: "ping", value: 5n }))).toEqual({
      kind: "ping",
      timestampMs: 5n,
      isOld: true,
    });
    expect(readSignal(sent({ case: "pingReq", value: new Ping({ timestamp: 5n }) }))).toMatchObject({
      timestampMs: 5n,
      isOld: false,
    });
  });

  test("that is two requests, or has too many fields, is refused before it is decoded", () => {
    const leave = sent({ case: "leave", value: new LeaveRequest() });
    expect(() => readSignal(Buffer.concat([leave, leave]))).toThrow(BadSignalError);
    const fields = Buffer.alloc(66, Uint8Array.of(0x28, 0x01));
    const inOffer = Buffer.concat([Uint8Array.of(0x0a, fields.length), fields]);
    expect(() => readSignal(inOffer)).toThrow(BadSignalError);
    // 80 KB of fields with 2 bytes each.
    expect(() => readSignal(Buffer.alloc(80 * 1_024, Uint8Array.of(0x08, 0x01)))).toThrow(BadSignalError);
  });

  test("of a kind that changes nothing is not decoded", () => {
    // A candidate of which the library could not read anything.
    expect(readSignal(Uint8Array.of(0x1a, 0x02, 0xff, 0xff))).toEqual({ kind: "other" });
  });

  test.each([0x7b, 0xff, 0x0b, 0x80])("of many bytes %i is refused", (byte) => {
    expect(() => readSignal(Buffer.alloc(80 * 1_024, byte))).toThrow(BadSignalError);
  });

  test("that was changed anywhere is read or refused, and does nothing else", () => {
    const whole = [
      Buffer.from(sent({ case: "offer", value: OFFER })),
      Buffer.from(sent({ case: "pingReq", value: new Ping({ timestamp: 5n }) })),
      wrapped(JOIN.toBinary(), true),
    ];
    const bytes = fc.constantFrom(...whole).chain((message) =>
      fc
        .array(fc.tuple(fc.nat(message.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
        .map((changes) => {
          const changed = Buffer.from(message);
          for (const [at, value] of changes) changed[at] = value;
          return changed;
        }),
    );
    const isHandled = (read: () => unknown): boolean => {
      try {
        read();
        return true;
      } catch (error) {
        return error instanceof BadSignalError;
      }
    };
    fc.assert(
      fc.property(fc.oneof(bytes, fc.uint8Array({ maxLength: 200 })), (given) => {
        expect(isHandled(() => readSignal(given))).toBe(true);
        expect(isHandled(() => readJoinRequest(Buffer.from(given).toString("base64url")))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a response", () => {
  const read = (bytes: Uint8Array) => SignalResponse.fromBinary(bytes).message;

  test("to a join names the room, both participants and the agent's track", () => {
    const iceServers = [{ urls: ["stun:a.example"], username: null, credential: null }];
    const parts = { callId: "call", participantSid: "PA_x", nowMs: 5_000, iceServers };
    const join = read(joinMessage(parts));
    expect(join).toMatchObject({
      case: "join",
      value: {
        room: { name: "call" },
        participant: { sid: "PA_x", identity: "user" },
        otherParticipants: [{ sid: "PA_agent", tracks: [{ sid: "TR_agent_audio" }] }],
        iceServers: [{ urls: ["stun:a.example"] }],
        pingInterval: 5,
      },
    });
    expect(read(reconnectMessage(iceServers)).case).toBe("reconnect");
  });

  test("answers offers, tracks, pings and the end", () => {
    expect(read(answerMessage(7, "v=0", "0"))).toMatchObject({
      case: "answer",
      value: { id: 7, midToTrackId: { 0: "TR_agent_audio" } },
    });
    const track = { cid: "c", name: "n", stream: "s", isMuted: true, isMicrophone: true };
    expect(read(publishedMessage(track, "TR_1"))).toMatchObject({
      case: "trackPublished",
      value: { cid: "c", track: { sid: "TR_1", muted: true } },
    });
    const ping = { kind: "ping", timestampMs: 5n } as const;
    expect(read(pongMessages({ ...ping, isOld: true }, 9))).toEqual({ case: "pong", value: 9n });
    expect(read(pongMessages({ ...ping, isOld: false }, 9))).toMatchObject({
      case: "pongResp",
      value: { lastPingTimestamp: 5n, timestamp: 9n },
    });
    expect(read(leaveMessage("over")).case).toBe("leave");
  });
});
