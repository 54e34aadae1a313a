/**
 * From the frames and keys of a call to datagrams, one every 20 ms. What is not sent for is silence: peers and the
 * devices between them take a stream that stops for a call that is over. Time comes in as a number.
 */

import { dtmfSamples } from "../../../media/dtmf.ts";
import { FRAME_MS, frameSamples } from "../../../media/frame.ts";
import { Framer } from "../../../media/framer.ts";
import { Resampler } from "../../../media/resample.ts";
import { silence } from "../../../media/silence.ts";
import type { AudioCodec } from "../../rtc/codec.ts";
import { CODEC_RATE_HZ, RTP_CLOCK_HZ, type RtpCodecName, type RtpMedia } from "../../rtc/rtp-media.ts";
import { openCodec } from "./codecs.ts";
import { MusicLoop } from "./music-loop.ts";
import { MOST_RELAYED_FRAMES } from "./relay.ts";
import type { SenderInfo } from "./rtcp.ts";
import { RTP_HEADER_BYTES, rtpPacketOf } from "./rtp-packet.ts";
import { isSameKey } from "./rtp-receiver.ts";
import { SendQueue } from "./send-queue.ts";
import { SrtpSender, TAG_BYTES } from "./srtp.ts";
import { EventSender, MOST_WAITING, PAUSE_MS, TONE_MS } from "./telephone-events.ts";

/** Of tones that wait: those of `MOST_WAITING` keys. */
const MAX_TONE_FRAMES = (MOST_WAITING * (TONE_MS + PAUSE_MS)) / FRAME_MS;

/** Random numbers of a stream: below 2^16 and below 2^32. */
export interface StreamRandom {
  bits16(): number;
  bits32(): number;
}

interface OpenCodec {
  readonly name: RtpCodecName;
  readonly codec: AudioCodec;
  /** From the rate of the call to that of the codec; null: they are the same. */
  readonly resampler: Resampler | null;
}

/** Numbers of one stream. */
interface Stream {
  readonly ssrc: number;
  /** With its turns, as SRTP counts. */
  index: number;
  timestamp: number;
  packets: number;
  bytes: number;
}

export class RtpSender {
  readonly #rateHz: number;
  readonly #random: StreamRandom;
  readonly #queue = new SendQueue();
  readonly #events = new EventSender();
  readonly #music = new MusicLoop();
  /** Frames of keys as tones, where the other side knows no telephone events. */
  readonly #tones: Int16Array[] = [];
  #framer: Framer | null = null;
  #resampled: Int16Array[] = [];
  #stream: Stream;
  #media: RtpMedia | null = null;
  #codec: OpenCodec | null = null;
  #srtp: SrtpSender | null = null;
  #isFirst = true;
  #sentBefore = 0;
  #sentAtReport = 0;

  constructor(sampleRateHz: number, random: StreamRandom) {
    this.#rateHz = sampleRateHz;
    this.#random = random;
    this.#stream = this.#newStream();
  }

  get ssrc(): number {
    return this.#stream.ssrc;
  }

  get packetsSent(): number {
    return this.#sentBefore + this.#stream.packets;
  }

  /** Resolves when the codec is there; until then the former media go on. */
  async agree(media: RtpMedia): Promise<void> {
    const former = this.#media;
    const name = media.send.codec;
    if (this.#codec?.name !== name) await this.#open(name);
    if (former !== null && RTP_CLOCK_HZ[former.send.codec] !== RTP_CLOCK_HZ[name]) {
      // Timestamps of another clock need a stream of their own (RFC 7160).
      this.#restart();
    }
    if (media.srtp === null) this.#srtp = null;
    else if (this.#srtp === null || !isSameKey(former?.srtp?.local, media.srtp.local)) {
      this.#srtp = new SrtpSender(media.srtp.local);
      // Somebody new counts the turns of the sequence numbers from 0 (RFC 3711, 3.3.1).
      if (former !== null) this.#restart();
    }
    if (former?.isSending !== media.isSending) this.#isFirst = true;
    this.#media = media;
  }

  #restart(): void {
    this.#sentBefore += this.#stream.packets;
    this.#stream = this.#newStream();
  }

  /** False: the frame was dropped, because too many wait. */
  push(frame: Int16Array): boolean {
    return this.#queue.push(frame);
  }

  /** A frame of a bridge. False: it was left out, because those before it still wait. */
  relay(frame: Int16Array): boolean {
    return this.#queue.waiting < MOST_RELAYED_FRAMES && this.#queue.push(frame);
  }

  /** At the rate of the call, in a loop while no frame waits; null: silence. */
  playMusic(samples: Int16Array | null): void {
    this.#music.set(samples);
  }

  mark(position: number): void {
    this.#queue.mark(position);
  }

  clear(): void {
    this.#queue.clear();
  }

  /** Keys, as telephone events or as tones in the audio. */
  digits(digits: string): void {
    if (this.#media?.sendDigits !== null) {
      this.#events.push(digits);
      return;
    }
    const frame = frameSamples(this.#rateHz);
    for (const part of dtmfSamples({ digits, toneMs: TONE_MS, spaceMs: PAUSE_MS }, this.#rateHz)) {
      if (this.#tones.length >= MAX_TONE_FRAMES) return;
      for (let at = 0; at < part.length; at += frame) this.#tones.push(part.slice(at, at + frame));
    }
  }

  /**
   * The next 20 ms.
   *
   * @param played gets the marks that have passed
   * @returns a datagram; null: nothing is to be sent
   */
  next(played: (position: number) => void): Buffer | null {
    for (const position of this.#queue.passed()) played(position);
    const samples = this.#queue.take() ?? this.#music.next(frameSamples(this.#rateHz));
    const media = this.#media;
    if (media === null || this.#codec === null) return null;
    const timestamp = this.#stream.timestamp;
    this.#stream.timestamp = (timestamp + this.#frameTicks()) % 2 ** 32;
    if (!media.isSending) return null;
    const { sendDigits } = media;
    if (this.#events.isActive && sendDigits !== null) {
      const event = this.#events.next(timestamp, sendDigits.clockHz);
      this.#isFirst = true;
      return event === null ? null : this.#packet({ ...event, payloadType: sendDigits.payloadType });
    }
    const payload = this.#codec.codec.encode(this.#frameOf(this.#tones.shift() ?? samples));
    const marker = this.#isFirst;
    this.#isFirst = false;
    return this.#packet({ payload, timestamp, marker, payloadType: media.send.payloadType });
  }

  /** Time has passed in which nothing was sent. */
  skip(frames: number): void {
    this.#stream.timestamp = (this.#stream.timestamp + frames * this.#frameTicks()) % 2 ** 32;
    this.#isFirst = true;
  }

  /** For a report; null: nothing was sent since the last one. */
  info(wallMs: number): SenderInfo | null {
    if (this.packetsSent === this.#sentAtReport) return null;
    this.#sentAtReport = this.packetsSent;
    const { timestamp, packets, bytes } = this.#stream;
    return { wallMs, timestamp, packets, bytes };
  }

  /** A report as it goes out. */
  sealed(report: Buffer): Buffer {
    return this.#srtp === null ? report : this.#srtp.rtcp(report);
  }

  close(): void {
    this.#codec?.codec.close();
    this.#codec?.resampler?.close();
    this.#codec = null;
  }

  #newStream(): Stream {
    return {
      ssrc: this.#random.bits32(),
      // The first turn must not end with the first packets, of which the other side may have lost some (RFC 3711, 3.3.1).
      index: this.#random.bits16() >> 1,
      timestamp: this.#random.bits32(),
      packets: 0,
      bytes: 0,
    };
  }

  async #open(name: RtpCodecName): Promise<void> {
    const codec = await openCodec(name);
    const toHz = CODEC_RATE_HZ[name];
    this.close();
    this.#resampled = [];
    const resampler = toHz === this.#rateHz ? null : new Resampler(this.#rateHz, toHz);
    this.#framer = resampler === null ? null : new Framer(frameSamples(toHz));
    this.#codec = { name, codec, resampler };
  }

  /** At the rate of the codec. */
  #frameOf(samples: Int16Array | null): Int16Array {
    const own = this.#fitted(samples ?? silence(frameSamples(this.#rateHz)));
    const codec = this.#codec;
    if (codec?.resampler === null || codec === null) return own;
    this.#framer?.push(codec.resampler.push(own), (frame) => this.#resampled.push(frame.slice()));
    return this.#resampled.shift() ?? silence(frameSamples(CODEC_RATE_HZ[codec.name]));
  }

  /** Whole frames; a part of one is filled up with silence. */
  #fitted(samples: Int16Array): Int16Array {
    const length = frameSamples(this.#rateHz);
    if (samples.length === length) return samples;
    const frame = new Int16Array(length);
    frame.set(samples.subarray(0, length));
    return frame;
  }

  #frameTicks(): number {
    return (RTP_CLOCK_HZ[this.#media?.send.codec ?? "PCMU"] * FRAME_MS) / 1_000;
  }

  #packet(rtp: {
    readonly payload: Uint8Array;
    readonly timestamp: number;
    readonly marker: boolean;
    readonly payloadType: number;
  }): Buffer {
    const stream = this.#stream;
    const { index, ssrc } = stream;
    stream.index += 1;
    stream.packets += 1;
    stream.bytes += rtp.payload.length;
    const packet = rtpPacketOf(
      { ...rtp, ssrc, sequence: index & 0xffff },
      this.#srtp === null ? 0 : TAG_BYTES,
    );
    return this.#srtp === null
      ? packet
      : this.#srtp.rtp(packet, { payloadStart: RTP_HEADER_BYTES, ssrc }, index);
  }
}
