/** Two RTP streams with a network between them, on a virtual clock: the same packets are lost and late in every run. */

import { FaultyNetwork, type NetworkFaults } from "../../../../media/testing/faulty-network.ts";
import { concat } from "../../../../media/testing/signals.ts";
import type { MediaFigures, RtpCodecName, RtpMedia, SrtpKey } from "../../../rtc/rtp-media.ts";
import { RtpStream } from "../rtp-stream.ts";
import type { Place } from "../source-latch.ts";

export const NO_FAULTS: NetworkFaults = { seed: 1, lossShare: 0, jitterMs: 0 };
const FRAME_MS = 20;
/** Any wall clock: only differences count. */
const WALL_MS = 1_800_000_000_000;

const NUMBERS: Readonly<Record<RtpCodecName, number>> = { PCMU: 0, PCMA: 8, G722: 9, opus: 96 };

export function keyOf(seed: number): SrtpKey {
  return { key: new Uint8Array(16).fill(seed), salt: new Uint8Array(14).fill(seed + 1) };
}

/** Media towards a side at 192.0.2.`to`. */
export function mediaTowards(to: number, codec: RtpCodecName, changes: Partial<RtpMedia> = {}): RtpMedia {
  const format = { payloadType: NUMBERS[codec], codec };
  const digits = { payloadType: 101, clockHz: codec === "opus" ? 48_000 : 8_000 };
  return {
    remote: { address: `192.0.2.${String(to)}`, port: 4_000, rtcpPort: 4_001 },
    isConfirmed: true,
    isMuxed: false,
    sources: [`192.0.2.${String(to)}`],
    send: format,
    receive: [format],
    sendDigits: digits,
    receiveDigits: [digits],
    isSending: true,
    isReceiving: true,
    srtp: null,
    ...changes,
  };
}

interface Flying {
  readonly datagram: Buffer;
  readonly to: Side;
  readonly atMs: number;
  readonly isRtcp: boolean;
}

export class Side {
  readonly heard: Int16Array[] = [];
  readonly keys: string[] = [];
  readonly played: number[] = [];
  readonly sent: Buffer[] = [];
  problems = 0;
  figures: MediaFigures | null = null;
  readonly place: Place;
  readonly stream: RtpStream;
  #network: FaultyNetwork<Buffer>;
  other: Side | null = null;

  constructor(pair: RtpPair, host: number, rateHz: number, faults: NetworkFaults) {
    this.place = { address: `192.0.2.${String(host)}`, port: 4_000 };
    this.#network = new FaultyNetwork(faults);
    const send = (datagram: Buffer, isRtcp: boolean): void => {
      this.sent.push(Buffer.from(datagram));
      const arrival = this.#network.send(Buffer.from(datagram), pair.nowMs);
      if (arrival !== null && this.other !== null) {
        pair.flying.push({ datagram: arrival.packet, to: this.other, atMs: arrival.atMs, isRtcp });
      }
    };
    this.stream = new RtpStream(rateHz, {
      audio: (samples) => this.heard.push(samples.slice()),
      digit: (key) => this.keys.push(key),
      tooManyDigits: () => (this.problems += 1),
      sign: () => undefined,
      played: (position) => this.played.push(position),
      figures: (figures) => (this.figures = figures),
      sendRtp: (datagram) => send(datagram, false),
      sendRtcp: (datagram) => send(datagram, true),
    });
  }

  samples(): Int16Array {
    return concat(this.heard);
  }
}

export class RtpPair {
  nowMs = 0;
  readonly flying: Flying[] = [];
  readonly a: Side;
  readonly b: Side;

  constructor(rateHz: number, faults: NetworkFaults = NO_FAULTS) {
    this.a = new Side(this, 1, rateHz, faults);
    this.b = new Side(this, 2, rateHz, { ...faults, seed: faults.seed + 1 });
    this.a.other = this.b;
    this.b.other = this.a;
  }

  /** The same for both, with keys where they are given. */
  async agree(codec: RtpCodecName, options: { readonly isSecure?: boolean } = {}): Promise<void> {
    const [one, two] = [keyOf(1), keyOf(50)];
    const isSecure = options.isSecure === true;
    await this.a.stream.agree(
      mediaTowards(2, codec, { srtp: isSecure ? { local: one, remote: two } : null }),
    );
    await this.b.stream.agree(
      mediaTowards(1, codec, { srtp: isSecure ? { local: two, remote: one } : null }),
    );
  }

  clocks(): { nowMs: number; wallMs: number } {
    return { nowMs: this.nowMs, wallMs: WALL_MS + this.nowMs };
  }

  /** So many frames pass; `each` is called before every one of them. */
  run(frames: number, each: (frame: number) => void = () => undefined): void {
    for (let frame = 0; frame < frames; frame += 1) {
      each(frame);
      this.a.stream.next(this.clocks());
      this.b.stream.next(this.clocks());
      this.nowMs += FRAME_MS;
      this.#deliver();
    }
  }

  #deliver(): void {
    const due = this.flying.filter(({ atMs }) => atMs <= this.nowMs).sort((one, two) => one.atMs - two.atMs);
    this.flying.splice(0, this.flying.length, ...this.flying.filter(({ atMs }) => atMs > this.nowMs));
    for (const { datagram, to, atMs, isRtcp } of due) {
      const from = to.other?.place ?? to.place;
      const clocks = { nowMs: atMs, wallMs: WALL_MS + atMs };
      if (isRtcp) to.stream.rtcp(datagram, { ...from, port: from.port + 1 }, clocks);
      else to.stream.rtp(datagram, from, atMs);
    }
  }

  close(): void {
    this.a.stream.close(this.clocks());
    this.b.stream.close(this.clocks());
  }
}
