/**
 * Mixer that aligns caller and agent. The caller's stream is the time line; the agent's audio is placed where the
 * caller's stream was when it sounded.
 */

import { msToSamples, samplesToMs } from "../../media/frame.ts";
import { Resampler } from "../../media/resample.ts";
import { silence } from "../../media/silence.ts";

/** Takes the audio heard on both sides of a call, each at its own rate. */
export interface AudioTap {
  /** The next piece of the caller's stream, complete at `nowMs`. Valid only during the call. */
  caller(samples: Int16Array, nowMs: number): void;
  /** A piece of the agent's audio that was heard, `startMs` being when it began to sound. */
  agent(samples: Int16Array, startMs: number): void;
}

/** The caller's audio waits this long for the agent's of the same moment, which is reported once it was heard. */
const HOLD_MS = 300;
/** The agent's last words may be heard this long after the caller's last audio. */
const LAST_WORD_MS = 1_000;
/** Two pieces of the agent's audio closer than this are one. */
const SEAM_MS = 1;

export interface TwoSidedAudioOptions {
  /** Rate of both sides of the output, and of the caller's samples. */
  readonly sampleRateHz: number;
  readonly agentRateHz: number;
  readonly startMs: number;
  /** Minimum length of an output block, except the last. */
  readonly blockMs: number;
  /** Receives two sides of equal length, in new arrays. */
  readonly take: (left: Int16Array, right: Int16Array) => void;
}

interface Piece {
  readonly at: number;
  readonly samples: Int16Array;
}

export class TwoSidedAudio implements AudioTap {
  readonly #rate: number;
  readonly #blockSamples: number;
  readonly #resampler: Resampler;
  readonly #take: TwoSidedAudioOptions["take"];
  #left: Int16Array[] = [];
  #written = 0;
  #leftEnd = 0;
  #leftEndMs: number;
  #right: Piece[] = [];
  #rightEnd = 0;
  #rightEndMs = Number.NEGATIVE_INFINITY;
  #over = false;

  constructor({ sampleRateHz, agentRateHz, startMs, blockMs, take }: TwoSidedAudioOptions) {
    this.#rate = sampleRateHz;
    this.#blockSamples = msToSamples(blockMs, sampleRateHz);
    this.#leftEndMs = startMs;
    this.#resampler = new Resampler(agentRateHz, sampleRateHz);
    this.#take = take;
  }

  /** Copied. */
  caller(samples: Int16Array, nowMs: number): void {
    if (this.#over) return;
    this.#left.push(samples.slice());
    this.#leftEnd += samples.length;
    this.#leftEndMs = nowMs;
    const settled = this.#leftEnd - msToSamples(HOLD_MS, this.#rate);
    if (settled - this.#written >= this.#blockSamples) this.#writeUpTo(settled);
  }

  agent(samples: Int16Array, startMs: number): void {
    if (this.#over) return;
    if (Math.abs(startMs - this.#rightEndMs) > SEAM_MS) {
      this.#endRun();
      const at = this.#leftEnd + msToSamples(startMs - this.#leftEndMs, this.#rate);
      this.#rightEnd = Math.max(this.#rightEnd, at);
    }
    this.#rightEndMs = startMs + samplesToMs(samples.length, this.#resampler.fromHz);
    this.#lay(this.#resampler.push(samples));
  }

  /** Outputs the rest. Idempotent. */
  finish(): void {
    if (this.#over) return;
    this.#endRun();
    const missing = Math.min(this.#rightEnd - this.#leftEnd, msToSamples(LAST_WORD_MS, this.#rate));
    if (missing > 0) {
      this.#left.push(silence(missing));
      this.#leftEnd += missing;
    }
    this.#writeUpTo(this.#leftEnd);
    this.close();
  }

  /** Drops the rest. Idempotent. */
  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#left = [];
    this.#right = [];
    this.#resampler.close();
  }

  /** Audio still in the filter belongs to the end of this run, not to the next one. */
  #endRun(): void {
    this.#rightEndMs = Number.NEGATIVE_INFINITY;
    this.#lay(this.#resampler.flush());
  }

  #lay(samples: Int16Array): void {
    if (samples.length === 0) return;
    const at = Math.max(this.#rightEnd, this.#written);
    // The samples may be a view of the voice's own memory; they are held for 300 ms at most.
    this.#right.push({ at, samples });
    this.#rightEnd = at + samples.length;
  }

  #writeUpTo(end: number): void {
    const count = end - this.#written;
    if (count <= 0) return;
    if (end > this.#rightEnd && this.#rightEndMs > Number.NEGATIVE_INFINITY) this.#endRun();
    const left = new Int16Array(count);
    let filled = 0;
    while (filled < count) {
      const piece = this.#left[0];
      if (piece === undefined) break;
      const taken = Math.min(piece.length, count - filled);
      left.set(piece.subarray(0, taken), filled);
      filled += taken;
      if (taken === piece.length) this.#left.shift();
      else this.#left[0] = piece.subarray(taken);
    }
    const right = new Int16Array(count);
    while (this.#right.length > 0) {
      const { at, samples } = this.#right[0]!;
      if (at >= end) break;
      const offset = at - this.#written;
      const taken = Math.min(samples.length, count - offset);
      right.set(samples.subarray(0, taken), offset);
      if (taken === samples.length) this.#right.shift();
      else {
        this.#right[0] = { at: end, samples: samples.subarray(taken) };
        break;
      }
    }
    this.#written = end;
    this.#take(left, right);
  }
}
