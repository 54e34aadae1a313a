/** A pair of RTP ports as its thread has it, and the medium of a call on it. */

import type { Socket } from "node:dgram";
import type { ServerDataMessage } from "@parley/schema";
import { FRAME_MS } from "../../../media/frame.ts";
import type { AttachOptions } from "../../rtc/leg-protocol.ts";
import type { HostedLeg, HostedListener, HostedTransport } from "../../rtc/hosted-leg.ts";
import type { LegOpening } from "../../rtc/leg-request.ts";
import type { RtpTransportOptions } from "../../rtc/leg.ts";
import { LifeSigns } from "../../rtc/life-signs.ts";
import type { PeerFaults } from "../../rtc/peer.ts";
import { RTP_AHEAD_MS, type RtpMedia, type RtpSocketOptions } from "../../rtc/rtp-media.ts";
import { Relay, type RelayTarget } from "./relay.ts";
import { isRtcp } from "./rtp-packet.ts";
import { openRtpSockets, type RtpSockets } from "./rtp-sockets.ts";
import { RtpStream } from "./rtp-stream.ts";

const CODE_REGULAR = 1000;
const CODE_ABNORMAL = 1006;
/** Frames that are sent at once when the thread was late; what is older is left out. */
const MAX_LATE_FRAMES = 5;

/** @throws NoPortError */
export async function openHostedRtpLeg(options: RtpSocketOptions): Promise<HostedLeg> {
  return new HostedRtpLeg(await openRtpSockets(options));
}

class HostedRtpLeg implements HostedLeg {
  readonly opening: LegOpening;
  /** There is no handshake: who agrees on media can send them. */
  readonly connected = Promise.resolve(true);
  /** Nothing that comes by RTP ends a call: without encryption it may come from anyone. */
  readonly faulty = new Promise<PeerFaults>(() => undefined);
  readonly #sockets: RtpSockets;
  #media: RtpMedia | null = null;
  #transport: RtpTransport | null = null;
  #isClosed = false;

  constructor(sockets: RtpSockets) {
    this.#sockets = sockets;
    this.opening = { kind: "rtp", port: sockets.port, rtcpPort: sockets.rtcpPort };
    for (const socket of [sockets.rtp, sockets.rtcp]) {
      // Of a datagram that could not be sent. It is lost, as on any network; silence decides about the call.
      socket.on("error", () => undefined);
    }
  }

  get transport(): HostedTransport | null {
    return this.#transport;
  }

  fault(): boolean {
    return false;
  }

  async agree(media: RtpMedia): Promise<void> {
    this.#media = media;
    await this.#transport?.agree(media);
  }

  attach(options: AttachOptions, listener: HostedListener): HostedTransport {
    if (options.kind !== "rtp") throw new Error("the leg has RTP ports");
    if (this.#transport !== null) throw new Error("the leg is already the medium of a call");
    const transport = new RtpTransport(this.#sockets, options, listener, () => void this.close());
    this.#transport = transport;
    // An error of a codec that cannot be opened is one of the thread, which reports it.
    if (this.#media !== null) void transport.agree(this.#media);
    return transport;
  }

  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    this.#transport?.close(CODE_REGULAR);
    const closed = [this.#sockets.rtp, this.#sockets.rtcp].map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.close(resolve);
        }),
    );
    return Promise.all(closed).then(() => undefined);
  }
}

class RtpTransport implements HostedTransport {
  readonly inputSampleRateHz: number;
  readonly outputSampleRateHz: number;
  readonly outputEncoding: "pcm" | "mulaw";
  readonly aheadMs = RTP_AHEAD_MS;
  readonly signalsDigits = true;
  readonly #listener: HostedListener;
  readonly #silenceLimitMs: number;
  readonly #ended: () => void;
  readonly #stream: RtpStream;
  readonly #signs = new LifeSigns();
  #timer: NodeJS.Timeout;
  #dueMs = performance.now();
  #isReceiving = false;
  #isMuxed = false;
  #isClosed = false;
  #relay: Relay | null = null;

  constructor(
    sockets: RtpSockets,
    options: RtpTransportOptions,
    listener: HostedListener,
    ended: () => void,
  ) {
    this.inputSampleRateHz = options.sampleRateHz;
    this.outputSampleRateHz = options.sampleRateHz;
    this.outputEncoding = options.outputEncoding;
    this.#listener = listener;
    this.#silenceLimitMs = options.silenceLimitMs;
    this.#ended = ended;
    this.#stream = new RtpStream(options.sampleRateHz, {
      audio: (samples) => (this.#relay ?? listener).audio(samples),
      digit: (key) => (this.#relay ?? listener).digit(key),
      tooManyDigits: () => listener.problem("too_many_digits"),
      sign: () => this.#signs.heard(),
      played: (position) => listener.played(position),
      figures: (figures) => listener.figures(figures),
      sendRtp: (datagram, place) => send(sockets.rtp, datagram, place),
      sendRtcp: (datagram, place, isMuxed) => send(isMuxed ? sockets.rtp : sockets.rtcp, datagram, place),
    });
    this.#timer = setTimeout(this.#tick, FRAME_MS);
    // The listener is not called before the constructor has returned: datagrams come in a later turn of the loop.
    sockets.rtp.on("message", (datagram, from) => {
      if (this.#isClosed) return;
      if (this.#isMuxed && isRtcp(datagram)) this.#stream.rtcp(datagram, from, clocks());
      else this.#stream.rtp(datagram, from, performance.now());
    });
    sockets.rtcp.on("message", (datagram, from) => {
      if (!this.#isClosed) this.#stream.rtcp(datagram, from, clocks());
    });
  }

  async agree(media: RtpMedia): Promise<void> {
    if (this.#isClosed) return;
    await this.#stream.agree(media);
    // Silence counts from the beginning, and from the end of a hold.
    if (media.isReceiving && !this.#isReceiving) this.#signs.restart();
    this.#isReceiving = media.isReceiving;
    this.#isMuxed = media.isMuxed;
  }

  sendAudio(frame: Int16Array): boolean {
    return !this.#isClosed && this.#stream.push(frame);
  }

  mark(position: number): void {
    if (!this.#isClosed) this.#stream.mark(position);
  }

  clearAudio(tail: Int16Array): void {
    if (this.#isClosed) return;
    this.#stream.clear();
    this.#stream.push(tail);
  }

  sendDigits(digits: string): void {
    if (!this.#isClosed) this.#stream.digits(digits);
  }

  playMusic(samples: Int16Array | null): void {
    this.#stream.playMusic(samples);
  }

  relayTo(other: HostedTransport): void {
    if (other.relayed === undefined || this.#isClosed) return;
    const target: RelayTarget = {
      outputSampleRateHz: other.outputSampleRateHz,
      relayed: (frame) => other.relayed?.(frame) ?? false,
      sendDigits: (digits) => other.sendDigits?.(digits),
    };
    this.#relay?.close();
    this.#relay = new Relay(this.inputSampleRateHz, target);
    // What was to be played before is not for the other side of the bridge.
    this.#stream.clear();
    this.#stream.playMusic(null);
  }

  relayed(frame: Int16Array): boolean {
    return !this.#isClosed && this.#stream.relay(frame);
  }

  /** SIP has no messages for a client. */
  sendData(_message: ServerDataMessage): void {}

  sendText(_text: string): void {}

  probe(limitMs: number): Promise<boolean> {
    return this.#signs.probe(limitMs);
  }

  close(code: number): void {
    this.#over(code === CODE_REGULAR, code);
  }

  hangUp(): void {
    this.#over(true, CODE_REGULAR);
  }

  readonly #tick = (): void => {
    const nowMs = performance.now();
    const lateFrames = Math.floor((nowMs - this.#dueMs) / FRAME_MS) - MAX_LATE_FRAMES;
    if (lateFrames > 0) {
      this.#stream.skip(lateFrames);
      this.#dueMs += lateFrames * FRAME_MS;
    }
    while (this.#dueMs <= nowMs && !this.#isClosed) {
      this.#stream.next(clocks());
      this.#dueMs += FRAME_MS;
    }
    const isLost = this.#isReceiving && this.#signs.silentMs > this.#silenceLimitMs;
    if (isLost) this.#over(false, CODE_ABNORMAL);
    if (!this.#isClosed) this.#timer = setTimeout(this.#tick, Math.max(1, this.#dueMs - performance.now()));
  };

  #over(regular: boolean, code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#stream.close(clocks());
    this.#relay?.close();
    this.#relay = null;
    this.#signs.close();
    this.#listener.closed(regular, code);
    // The last report is on its way by then.
    setImmediate(this.#ended);
  }
}

function clocks(): { nowMs: number; wallMs: number } {
  return { nowMs: performance.now(), wallMs: Date.now() };
}

function send(socket: Socket, datagram: Buffer, { address, port }: { address: string; port: number }): void {
  // What cannot be sent is lost, as on any network; without a callback nobody is told.
  socket.send(datagram, port, address);
}
