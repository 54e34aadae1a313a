/**
 * From datagrams to the samples and keys of a call. Every datagram is hostile until its source, its format and, with
 * SRTP, its signature are checked; what does not pass is dropped without a trace but a count. Time comes in as a number.
 */

import { DigitLimit } from "../../../media/digit-limit.ts";
import { FRAME_MS } from "../../../media/frame.ts";
import { ReceivedAudio } from "../../rtc/received-audio.ts";
import { RTP_CLOCK_HZ, type RtpMedia, type SrtpKey } from "../../rtc/rtp-media.ts";
import { isUnspecified } from "../sdp/description.ts";
import { FormatDecoder, isTooLong } from "./codecs.ts";
import { Reception, roundTripMs } from "./reception.ts";
import { middleOfNtp, reportsOf } from "./rtcp.ts";
import { type RtpHeader, payloadOf, rtpHeaderOf } from "./rtp-packet.ts";
import { type Place, SourceLatch } from "./source-latch.ts";
import { SrtpReceiver } from "./srtp.ts";
import { EventReceiver } from "./telephone-events.ts";

/** Above the MTU of Ethernet; 20 ms of the widest codec have 320 bytes. */
export const MAX_DATAGRAM_BYTES = 2_048;
/** Datagrams in one window from where media come: 1,000 a second are 20 times real time. More are dropped unread. */
export const MAX_DATAGRAMS = 250;
/** The same of all other places together, each of which may cost the check of a signature. */
export const MAX_STRANGE_DATAGRAMS = 50;
/** Reports come every few seconds. */
export const MAX_REPORTS = 10;
export const WINDOW_MS = 250;
const MAX_PORT = 65_535;
/** Comfort noise (RFC 3389), which some peers send without having agreed on it. */
const COMFORT_NOISE = 13;

export interface ReceiverListener {
  /** Valid only during the call. */
  audio(samples: Int16Array): void;
  digit(key: string): void;
  tooManyDigits(): void;
  /** A valid packet came. */
  sign(): void;
}

/** What the other side reports about what we send. */
interface RemoteReport {
  readonly packetsLost: number;
  /** In ticks. */
  readonly jitter: number;
}

export class RtpReceiver {
  readonly #listener: ReceiverListener;
  readonly #decoder: FormatDecoder;
  readonly #reception = new Reception();
  readonly #digitLimit = new DigitLimit();
  readonly #latch = new SourceLatch();
  readonly #events = new EventReceiver();
  #audio: ReceivedAudio | null = null;
  #media: RtpMedia | null = null;
  #srtp: SrtpReceiver | null = null;
  #rtcpPlace: Place | null = null;
  #window = { fromMs: Number.NEGATIVE_INFINITY, datagrams: 0, strange: 0, reports: 0 };
  #remote: RemoteReport | null = null;
  #roundTripMs: number | null = null;
  /** Our own source: what a peer sends back to us is not heard. */
  ownSsrc = -1;

  constructor(sampleRateHz: number, listener: ReceiverListener) {
    this.#listener = listener;
    this.#decoder = new FormatDecoder(sampleRateHz);
  }

  get reception(): Reception {
    return this.#reception;
  }

  get roundTripMs(): number | null {
    return this.#roundTripMs;
  }

  get remote(): RemoteReport | null {
    return this.#remote;
  }

  /** Where RTP is to be sent; null: nowhere, before anything is agreed on and while the other side names no address. */
  get place(): Place | null {
    return this.#latch.place ?? this.#named;
  }

  /** Media have come from where RTP is sent to. */
  get hasHeard(): boolean {
    return this.#latch.place !== null;
  }

  get #named(): RtpMedia["remote"] | null {
    const remote = this.#media?.remote;
    return remote === undefined || isUnspecified(remote.address) ? null : remote;
  }

  get rtcpPlace(): Place | null {
    if (this.#media?.isMuxed === true) return this.place;
    if (this.#rtcpPlace !== null) return this.#rtcpPlace;
    const [place, named] = [this.#latch.place, this.#named];
    const isNamed = place === null || (place.address === named?.address && place.port === named.port);
    if (isNamed) return named === null ? null : { address: named.address, port: named.rtcpPort };
    return { address: place.address, port: Math.min(MAX_PORT, place.port + 1) };
  }

  /** Resolves when the codecs are there; until then the former media go on. */
  async agree(media: RtpMedia): Promise<void> {
    await this.#decoder.agree(media.receive);
    const former = this.#media;
    this.#media = media;
    this.#latch.agree(media.remote, media.sources, media.srtp !== null);
    if (this.#latch.place === null) this.#rtcpPlace = null;
    if (media.srtp === null) this.#srtp = null;
    // The same key goes on with its numbers, so that nothing that was recorded before is taken again.
    else if (this.#srtp === null || !isSameKey(former?.srtp?.remote, media.srtp.remote)) {
      this.#srtp = new SrtpReceiver(media.srtp.remote);
    }
    const clockHz = this.#clockHz(media);
    if (this.#audio === null || former === null || this.#clockHz(former) !== clockHz) {
      const frameTicks = (clockHz * FRAME_MS) / 1_000;
      const take = (samples: Int16Array): void => this.#listener.audio(samples);
      this.#audio = new ReceivedAudio(this.#decoder, take, frameTicks);
    }
  }

  rtp(datagram: Buffer, from: Place, nowMs: number): void {
    const media = this.#media;
    if (media === null || !this.#isInBudget(from, nowMs)) return;
    if (datagram.length > MAX_DATAGRAM_BYTES || !this.#latch.admits(from, nowMs)) return;
    const header = rtpHeaderOf(datagram);
    if (header === null || header.ssrc === this.ownSsrc || !this.#isKnown(header)) return;
    const packet = this.#srtp === null ? datagram : this.#srtp.rtp(datagram, header);
    const payload = packet === null ? null : payloadOf(packet, header);
    if (payload === null) return;
    this.#latch.heard(from, nowMs);
    this.#listener.sign();
    this.#take(header, payload, media, nowMs);
  }

  /** @param wallMs ms since 1970, for the round trip */
  rtcp(datagram: Buffer, from: Place, { nowMs, wallMs }: { nowMs: number; wallMs: number }): void {
    const media = this.#media;
    if (media === null || from.port === 0 || datagram.length > MAX_DATAGRAM_BYTES) return;
    const isNamed = media.sources.includes(from.address) || this.#latch.place?.address === from.address;
    if (this.#srtp === null && !isNamed) return;
    this.#openWindow(nowMs);
    this.#window.reports += 1;
    if (this.#window.reports > MAX_REPORTS) return;
    const packet = this.#srtp === null ? datagram : this.#srtp.rtcp(datagram);
    const reports = packet === null ? null : reportsOf(packet);
    if (reports === null) return;
    this.#rtcpPlace = { address: from.address, port: from.port };
    for (const { sentAt, blocks } of reports) {
      if (sentAt !== null) this.#reception.senderReport(sentAt, nowMs);
      for (const block of blocks) {
        if (block.ssrc !== this.ownSsrc) continue;
        this.#remote = { packetsLost: Math.max(0, block.packetsLost), jitter: block.jitter };
        this.#roundTripMs = roundTripMs(block, middleOfNtp(wallMs)) ?? this.#roundTripMs;
      }
    }
  }

  /** Time went on; to be called every 20 ms. */
  tick(nowMs: number): void {
    this.#audio?.tick(nowMs);
  }

  close(): void {
    this.#decoder.close();
  }

  #take(header: RtpHeader, payload: Buffer, media: RtpMedia, nowMs: number): void {
    const { payloadType, ssrc, sequence, timestamp } = header;
    const codec = this.#decoder.nameOf(payloadType);
    const clockHz = codec === null ? this.#clockHz(media) : RTP_CLOCK_HZ[codec];
    this.#reception.packet(header, codec === null ? null : timestamp, clockHz, nowMs);
    if (!media.isReceiving) return;
    const piece = { ssrc, sequence, timestamp, payload, payloadType, hasNoAudio: codec === null };
    if (codec !== null) {
      if (!isTooLong(codec, payload)) this.#audio?.push(piece, nowMs);
      return;
    }
    this.#audio?.push(piece, nowMs);
    if (payloadType !== COMFORT_NOISE) this.#takeEvent(header, payload, nowMs);
  }

  #takeEvent({ ssrc, timestamp }: RtpHeader, payload: Buffer, nowMs: number): void {
    const key = this.#events.take(payload, ssrc, timestamp, nowMs);
    if (key === null) return;
    if (this.#digitLimit.admits(nowMs)) this.#listener.digit(key);
    else this.#listener.tooManyDigits();
  }

  #isKnown({ payloadType }: RtpHeader): boolean {
    if (payloadType === COMFORT_NOISE || this.#decoder.nameOf(payloadType) !== null) return true;
    return this.#media?.receiveDigits.some((digits) => digits.payloadType === payloadType) === true;
  }

  #clockHz({ receive, send }: RtpMedia): number {
    return RTP_CLOCK_HZ[receive[0]?.codec ?? send.codec];
  }

  #openWindow(nowMs: number): void {
    if (nowMs - this.#window.fromMs < WINDOW_MS) return;
    this.#window = { fromMs: nowMs, datagrams: 0, strange: 0, reports: 0 };
  }

  #isInBudget(from: Place, nowMs: number): boolean {
    this.#openWindow(nowMs);
    if (this.#latch.isPlace(from)) {
      this.#window.datagrams += 1;
      return this.#window.datagrams <= MAX_DATAGRAMS;
    }
    this.#window.strange += 1;
    return this.#window.strange <= MAX_STRANGE_DATAGRAMS;
  }
}

export function isSameKey(one: SrtpKey | undefined, other: SrtpKey): boolean {
  return (
    one !== undefined &&
    Buffer.compare(one.key, other.key) === 0 &&
    Buffer.compare(one.salt, other.salt) === 0
  );
}
