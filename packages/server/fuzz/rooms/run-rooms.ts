/**
 * Sends changed messages to the signalling of rooms, and changed data packets to their reader. Faults are: an error that
 * is not a refusal, a socket that is closed for another reason, and another room whose pings are not answered any more.
 */

import { gzipSync } from "node:zlib";
import {
  AddTrackRequest,
  ClientInfo,
  DataPacket,
  JoinRequest,
  LeaveRequest,
  MuteTrackRequest,
  Ping,
  SessionDescription,
  SignalRequest,
  SyncState,
  TrackSource,
  TrackType,
  TrickleRequest,
  UpdateSubscription,
  UserPacket,
  WrappedJoinRequest,
  WrappedJoinRequest_Compression,
} from "@livekit/protocol";
import { pino } from "pino";
import type { WebRtcRenegotiated } from "../../src/joins/api.ts";
import { openRoomSignalling, type RoomSignallingParts } from "../../src/joins/rooms/room-signalling.ts";
import { FakeSocket } from "../../src/joins/rooms/testing/fake-socket.ts";
import { readDataPacket } from "../../src/transports/livekit/data-packet.ts";
import { checkedRoomOffer, roomAnswer, speakingLine } from "../../src/transports/livekit/room-sdp.ts";
import { BadSdpError } from "../../src/transports/rtc/sdp.ts";
import { Draw } from "../../sim/draw.ts";
import { mutatedSdp } from "../media/mutate-sdp.ts";
import { bytes, mutated, oneOf } from "../media/mutate.ts";

/** Messages between two checks that the other room is served. */
const CHECK_EVERY = 250;
const MOST_FAULTS = 5;
/** A message that takes longer holds up all calls. Far above what a busy machine makes of some milliseconds. */
const MOST_MS = 5_000;
/** The end, a message that is no request, and too many requests. */
const REFUSALS: ReadonlySet<number> = new Set([1000, 1003, 1008]);

export interface RoomsFuzzOptions {
  readonly inputs: number;
  readonly seed: number;
  readonly log: (line: string) => void;
  /** In tests of the fuzzer: signalling with a fault. */
  readonly open?: typeof openRoomSignalling;
}

/** @returns what the rooms have not withstood */
export async function runRoomsFuzz(options: RoomsFuzzOptions): Promise<readonly string[]> {
  const fuzz = new RoomsFuzz(options);
  const faults = await fuzz.run(options.inputs);
  const { answered, refused } = fuzz;
  options.log(
    `  rooms: ${String(options.inputs)} messages, ${String(answered)} answered, ${String(refused)} sockets refused, ` +
      `${String(faults.length)} failed`,
  );
  for (const fault of faults) options.log(`  FAILED: ${fault}`);
  return faults;
}

class RoomsFuzz {
  readonly #draw: Draw;
  readonly #open: typeof openRoomSignalling;
  readonly #faults: string[] = [];
  readonly #parts: RoomSignallingParts;
  readonly #requests = requestsOf();
  readonly #joins = joinsOf();
  readonly #packets = packetsOf();
  readonly #good: FakeSocket;
  #socket: FakeSocket | null = null;
  answered = 0;
  refused = 0;

  constructor({ seed, open = openRoomSignalling }: RoomsFuzzOptions) {
    this.#draw = new Draw(seed);
    this.#open = open;
    const write = (line: string): void => this.#fault(`the service has logged: ${line}`);
    this.#parts = {
      webRtc: {
        offer: async ({ sdp, roomConnectionId = "" }) => ({
          ...answerOf(sdp),
          connectionId: roomConnectionId,
        }),
        renegotiate: async (_connection, sdp) => answerOf(sdp),
      },
      roomSockets: { watch: () => () => undefined },
      iceServers: [],
      logger: pino({ level: "error" }, { write }),
    };
    this.#good = this.#opened(this.#joins[0] ?? Buffer.alloc(0));
  }

  async run(inputs: number): Promise<readonly string[]> {
    for (let n = 1; n <= inputs && this.#faults.length < MOST_FAULTS; n += 1) {
      const startMs = performance.now();
      if (this.#draw.chance(0.2)) this.#readPacket();
      else await this.#signal();
      if (performance.now() - startMs > MOST_MS) this.#fault(`message ${String(n)} took more than 5 s`);
      if (n % CHECK_EVERY === 0) await this.#check();
    }
    this.#good.terminate();
    this.#socket?.terminate();
    return this.#faults;
  }

  async #signal(): Promise<void> {
    if (this.#socket === null || this.#draw.chance(0.02)) {
      this.#socket?.terminate();
      this.#socket = this.#opened(this.#changed(this.#joins));
    } else this.#socket.receive(this.#changed(this.#requests));
    await turn();
    const { code, sent } = this.#socket;
    if (code === null) return;
    this.answered += sent.length;
    this.refused += 1;
    if (!REFUSALS.has(code)) this.#fault(`a socket was closed with ${String(code)}`);
    this.#socket = null;
  }

  #opened(join: Buffer): FakeSocket {
    const socket = new FakeSocket();
    const joinRequest = join.toString("base64url");
    this.#open(this.#parts, {
      callId: "call",
      socket: socket.asSocket(),
      joinRequest,
      answered: () => undefined,
    });
    return socket;
  }

  /** Most are changed; a few are as they were, so that the connection gets on. */
  #changed(captures: readonly Buffer[]): Buffer {
    const draw = this.#draw;
    if (draw.chance(0.1)) return oneOf(draw, captures);
    if (draw.chance(0.1)) return bytes(draw, draw.whole(0, 2_000));
    if (draw.chance(0.2)) {
      const sdp = mutatedSdp(draw, OFFER, []);
      const offer = new SessionDescription({ type: "offer", sdp, id: draw.whole(0, 9) });
      return Buffer.from(new SignalRequest({ message: { case: "offer", value: offer } }).toBinary());
    }
    return mutated(draw, oneOf(draw, captures), () => [], captures);
  }

  /** What it throws is counted against the one who has sent it; what it returns is a part of the packet. */
  #readPacket(): void {
    const packet = mutated(this.#draw, oneOf(this.#draw, this.#packets), () => [], this.#packets);
    try {
      const text = readDataPacket(packet);
      if (text !== null && text.length > packet.length) this.#fault("a text is longer than its packet");
    } catch (error) {
      if (!(error instanceof Error)) this.#fault("a data packet throws what is no error");
    }
  }

  async #check(): Promise<void> {
    const before = this.#good.sent.length;
    const ping = new SignalRequest({ message: { case: "pingReq", value: new Ping({ timestamp: 1n }) } });
    this.#good.receive(ping.toBinary());
    await turn();
    if (this.#good.sent.length !== before + 1) this.#fault("another room is not answered any more");
  }

  #fault(what: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(what);
  }
}

/** Everything that a message causes here is a chain of promises, without timers. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What the joins make of an offer, without the connection. */
function answerOf(
  sdp: string,
): Extract<WebRtcRenegotiated, { readonly kind: "answered" }> | { kind: "refused"; reason: string } {
  try {
    const offer = checkedRoomOffer(sdp);
    return { kind: "answered", sdp: roomAnswer(offer, speakingLine(offer) ?? "") };
  } catch (error) {
    if (error instanceof BadSdpError) return { kind: "refused", reason: error.message };
    throw error;
  }
}

const CREDENTIALS = "a=ice-ufrag:abcd\r\na=ice-pwd:0123456789012345678901\r\na=fingerprint:sha-256 AA:BB\r\n";
const audio = (mid: number, direction: string): string =>
  `m=audio 9 UDP/TLS/RTP/SAVPF 111 63\r\na=mid:${String(mid)}\r\n${CREDENTIALS}a=${direction}\r\na=rtpmap:111 opus/48000/2\r\n`;
const OFFER = `v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1 2 3\r\n${audio(0, "recvonly")}m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:1\r\n${CREDENTIALS}m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:2\r\na=recvonly\r\na=rtpmap:96 VP8/90000\r\n${audio(3, "sendonly")}a=msid:a b\r\n`;

function requestsOf(): readonly Buffer[] {
  const description = new SessionDescription({ type: "offer", sdp: OFFER, id: 1 });
  const messages: NonNullable<SignalRequest["message"]>[] = [
    { case: "offer", value: description },
    { case: "answer", value: new SessionDescription({ type: "answer", sdp: OFFER, id: 1 }) },
    { case: "trickle", value: new TrickleRequest({ candidateInit: '{"candidate":""}' }) },
    {
      case: "addTrack",
      value: new AddTrackRequest({
        cid: "c",
        name: "n",
        type: TrackType.AUDIO,
        source: TrackSource.MICROPHONE,
      }),
    },
    { case: "mute", value: new MuteTrackRequest({ sid: "TR_user_1", muted: true }) },
    { case: "subscription", value: new UpdateSubscription({ trackSids: ["TR_agent_audio"] }) },
    { case: "syncState", value: new SyncState({ answer: description }) },
    { case: "leave", value: new LeaveRequest() },
    { case: "ping", value: 5n },
    { case: "pingReq", value: new Ping({ timestamp: 5n, rtt: 1n }) },
  ];
  return messages.map((message) => Buffer.from(new SignalRequest({ message }).toBinary()));
}

function joinsOf(): readonly Buffer[] {
  const clientInfo = new ClientInfo({ version: "2.23.0" });
  const publisherOffer = new SessionDescription({ type: "offer", sdp: OFFER, id: 1 });
  const participantSid = "PA_975d1713-022b-4685-b88a-8f2bd61f2eff";
  return [
    new JoinRequest({ clientInfo, publisherOffer }),
    new JoinRequest({ clientInfo, reconnect: true, participantSid }),
  ].flatMap((join) => {
    const plain = join.toBinary();
    return [
      { compression: WrappedJoinRequest_Compression.NONE, joinRequest: plain },
      { compression: WrappedJoinRequest_Compression.GZIP, joinRequest: Uint8Array.from(gzipSync(plain)) },
    ].map((wrapped) => Buffer.from(new WrappedJoinRequest(wrapped).toBinary()));
  });
}

function packetsOf(): readonly Buffer[] {
  const payload = Buffer.from('{"type":"ping","timestamp":1}');
  const user = new UserPacket({ payload, participantIdentity: "user", topic: "t" });
  return [new DataPacket({ value: { case: "user", value: user } }), new DataPacket()].map((packet) =>
    Buffer.from(packet.toBinary()),
  );
}
