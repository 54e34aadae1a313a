/**
 * What comes from a carrier: one stream from its start to its stop. Every message is hostile until it is checked. Bad
 * ones are dropped and reported; none of them ends a call.
 */

import { bytesPerSample, decodeAudio } from "../../media/audio-format.ts";
import { DigitLimit } from "../../media/digit-limit.ts";
import { msToSamples } from "../../media/frame.ts";
import { OPUS_FRAME_TICKS, RtpOrder } from "../../media/rtp-order.ts";
import type { TransportProblem } from "../../ports/transport.ts";
import type { CarrierCodec, CarrierEvent, StreamStart } from "./codec.ts";

/** Messages before the start: ten seconds of frames, the time that the start has. */
export const MESSAGES_BEFORE_START = 500;
/** Audio of one message; longer ones are dropped whole. Carriers send 20 to 100 ms. */
export const LONGEST_AUDIO_MS = 1_000;
/**
 * Messages of audio that the numbering may hold back or take for doubled, one after the other. A carrier that passes
 * this (half a second) does not count, so its audio is taken as it comes.
 */
const MOST_WITHHELD = 25;

export interface StreamListener {
  /** Once, before everything else. */
  started(start: StreamStart): void;
  /** The stream cannot be served; `reason` ends a sentence that begins with "The stream". Nothing follows. */
  refused(reason: string): void;
  audio(samples: Int16Array): void;
  marked(name: string): void;
  /** One of 0-9 * # A-D. */
  digit(key: string): void;
  /** The carrier ended the stream. Nothing follows. */
  stopped(): void;
  problem(problem: TransportProblem): void;
}

export class StreamReader {
  readonly #codec: CarrierCodec;
  readonly #listener: StreamListener;
  readonly #order: RtpOrder;
  #counts = true;
  #withheld = 0;
  #start: StreamStart | null = null;
  #beforeStart = 0;
  #isOver = false;
  readonly #digits = new DigitLimit();

  constructor(codec: CarrierCodec, listener: StreamListener) {
    this.#codec = codec;
    this.#listener = listener;
    this.#order = new RtpOrder({
      packet: (payload) => {
        this.#withheld = 0;
        this.#audio(payload);
      },
      // The intake fills the gap with silence.
      lost: () => undefined,
    });
  }

  /** One text frame. */
  read(text: string, nowMs: number): void {
    if (this.#isOver) return;
    const event = this.#codec.decode(text);
    if (this.#start === null) this.#begin(event);
    else this.#take(event, this.#start, nowMs);
  }

  #begin(event: CarrierEvent): void {
    if (event.type === "started") {
      this.#start = event.start;
      this.#listener.started(event.start);
      return;
    }
    this.#beforeStart += 1;
    if (event.type === "unsupported") this.#refuse(event.reason);
    else if (event.type === "stopped") this.#refuse("stopped before its start");
    else if (this.#beforeStart >= MESSAGES_BEFORE_START) this.#refuse("did not begin with its start");
  }

  #refuse(reason: string): void {
    this.#isOver = true;
    this.#listener.refused(reason);
  }

  #take(event: CarrierEvent, start: StreamStart, nowMs: number): void {
    if ("streamId" in event && isForeign(event.streamId, start)) {
      this.#listener.problem("foreign_stream");
      return;
    }
    switch (event.type) {
      case "audio":
        this.#arrange(event.order, event.payload, nowMs);
        return;
      case "marked":
        this.#listener.marked(event.name);
        return;
      case "digit":
        this.#digit(event.key, nowMs);
        return;
      case "stopped":
        this.#isOver = true;
        this.#listener.stopped();
        return;
      case "failed":
        this.#listener.problem("carrier_error");
        return;
      case "malformed":
      case "unsupported":
        this.#listener.problem("malformed_message");
        return;
      case "started":
        // Doubled: it changes nothing.
        if (isForeign(event.start.streamId, start)) this.#listener.problem("foreign_stream");
        return;
      case "unused":
    }
  }

  /** In the order of the carrier's numbers; doubled messages are dropped. */
  #arrange(order: number | null, payload: Uint8Array, nowMs: number): void {
    if (order === null || !this.#counts) {
      this.#audio(payload);
      return;
    }
    this.#withheld += 1;
    const timestamp = (order * OPUS_FRAME_TICKS) >>> 0;
    this.#order.push({ ssrc: 0, sequence: order & 0xffff, timestamp, payload }, nowMs);
    if (this.#withheld > MOST_WITHHELD) this.#counts = false;
  }

  #audio(payload: Uint8Array): void {
    const start = this.#start;
    if (start === null) return;
    const { encoding, sampleRateHz } = start.input;
    const width = bytesPerSample(encoding);
    const longest = msToSamples(LONGEST_AUDIO_MS, sampleRateHz) * width;
    if (payload.length === 0 || payload.length % width !== 0 || payload.length > longest) {
      this.#listener.problem("wrong_audio");
      return;
    }
    this.#listener.audio(decodeAudio(encoding, payload));
  }

  #digit(key: string, nowMs: number): void {
    if (this.#digits.admits(nowMs)) this.#listener.digit(key);
    else this.#listener.problem("too_many_digits");
  }
}

/** A message that names no stream is about the only one there is. */
function isForeign(streamId: string | null, start: StreamStart): boolean {
  return streamId !== null && start.streamId !== null && streamId !== start.streamId;
}
