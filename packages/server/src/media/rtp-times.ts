/** Sequence numbers and timestamps of a stream of 20 ms frames that pauses while there is nothing to say. */

import { OPUS_CLOCK_HZ, OPUS_FRAME_TICKS } from "./rtp-order.ts";

/** A frame later than this starts again: its timestamp says when it sounds, so that a pause stays as long as it was. */
const PAUSE_MS = 60;

export interface RtpPlace {
  /** 16 bits. */
  readonly sequence: number;
  /** 32 bits. */
  readonly timestamp: number;
  /** The first frame after a pause (RFC 3551, section 4.1). */
  readonly marker: boolean;
}

export class RtpTimes {
  readonly #firstTimestamp: number;
  #sequence: number;
  #startMs: number | null = null;
  /** Clock ticks since the start, not wrapped. */
  #ticks = 0;

  /** Both are to be random (RFC 3550, section 5.1). */
  constructor(firstSequence: number, firstTimestamp: number) {
    this.#sequence = firstSequence;
    this.#firstTimestamp = firstTimestamp;
  }

  /** The place of a frame that is sent at `nowMs`. */
  next(nowMs: number): RtpPlace {
    const first = this.#startMs === null;
    this.#startMs ??= nowMs;
    const due = ((nowMs - this.#startMs) * OPUS_CLOCK_HZ) / 1_000;
    const paused = due - this.#ticks > (PAUSE_MS * OPUS_CLOCK_HZ) / 1_000;
    if (paused) this.#ticks = Math.round(due);
    const place = {
      sequence: this.#sequence,
      timestamp: (this.#firstTimestamp + this.#ticks) % 2 ** 32,
      marker: first || paused,
    };
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#ticks += OPUS_FRAME_TICKS;
    return place;
  }
}
