/**
 * A call's recording: left the caller as received, right the agent as heard. The caller's stream is the time line; what
 * the agent says is laid where the caller's stream was when it sounded.
 */

import { msToSamples, samplesToMs } from "../media/frame.ts";
import { interleave } from "../media/pcm.ts";
import { Resampler } from "../media/resample.ts";
import { silence } from "../media/silence.ts";
import type { RecordingWriter } from "../ports/recordings.ts";

export const HIGHEST_RECORDING_RATE_HZ = 16_000;

/** The caller's audio waits this long for the agent's of the same moment, which is told once it was heard. */
const HOLD_MS = 300;
/** Written at once; 10 writes a second and call would be felt with 100 calls, 4 are not. */
const BLOCK_MS = 250;
/** Audio kept while the file is being made, or beyond the caller's end at the close. */
const SPARE_MS = 5_000;
const LAST_WORD_MS = 1_000;
/** Two pieces of the agent's audio closer than this are one. */
const SEAM_MS = 1;

interface Piece {
  readonly at: number;
  readonly samples: Int16Array;
}

export class Recorder {
  readonly #rate: number;
  readonly #resampler: Resampler;
  #writer: RecordingWriter | null = null;
  readonly #ready: Promise<void>;
  /** Blocks made before the file was. */
  #early: Int16Array[] | null = [];
  #earlySamples = 0;
  #left: Int16Array[] = [];
  #written = 0;
  #leftEnd = 0;
  #leftEndMs: number;
  #right: Piece[] = [];
  #rightEnd = 0;
  #rightEndMs = Number.NEGATIVE_INFINITY;
  #closing: Promise<void> | null = null;

  /**
   * @param writer the file in the making
   * @param sampleRateHz of the recording and of the caller's samples
   * @param agentRateHz of the agent's samples
   */
  constructor(writer: Promise<RecordingWriter>, sampleRateHz: number, agentRateHz: number, startMs: number) {
    this.#rate = sampleRateHz;
    this.#leftEndMs = startMs;
    this.#resampler = new Resampler(agentRateHz, sampleRateHz);
    this.#ready = writer.then((opened) => {
      this.#writer = opened;
      for (const block of this.#early ?? []) opened.write(block);
      this.#early = null;
    });
    // Awaited by `close`, which may be an hour away.
    this.#ready.catch(() => {
      this.#early = null;
    });
  }

  /** The next piece of the caller's stream, complete at `nowMs`. Copied. */
  caller(samples: Int16Array, nowMs: number): void {
    if (this.#closing !== null) return;
    this.#left.push(samples.slice());
    this.#leftEnd += samples.length;
    this.#leftEndMs = nowMs;
    const settled = this.#leftEnd - msToSamples(HOLD_MS, this.#rate);
    if (settled - this.#written >= msToSamples(BLOCK_MS, this.#rate)) this.#writeUpTo(settled);
  }

  /** Something that was heard, `startMs` being when it began to sound. */
  agent(samples: Int16Array, startMs: number): void {
    if (this.#closing !== null) return;
    if (Math.abs(startMs - this.#rightEndMs) > SEAM_MS) {
      this.#endRun();
      const at = this.#leftEnd + msToSamples(startMs - this.#leftEndMs, this.#rate);
      this.#rightEnd = Math.max(this.#rightEnd, at);
    }
    this.#rightEndMs = startMs + samplesToMs(samples.length, this.#resampler.fromHz);
    this.#lay(this.#resampler.push(samples));
  }

  /** Writes the rest and finishes the file. Rejects when a part could not be written. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    this.#endRun();
    // The agent's last words may have been heard after the caller's last audio.
    const missing = Math.min(this.#rightEnd - this.#leftEnd, msToSamples(LAST_WORD_MS, this.#rate));
    if (missing > 0) {
      this.#left.push(silence(missing));
      this.#leftEnd += missing;
    }
    this.#writeUpTo(this.#leftEnd);
    await this.#ready;
    await this.#writer?.close();
  }

  /** What is still in the filter belongs to the end of this run, not to the next one. */
  #endRun(): void {
    this.#rightEndMs = Number.NEGATIVE_INFINITY;
    this.#lay(this.#resampler.flush());
  }

  #lay(samples: Int16Array): void {
    if (samples.length === 0) return;
    const at = Math.max(this.#rightEnd, this.#written);
    // The samples may be a view of the voice's own memory: it is kept for 300 ms at most.
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
    this.#write(interleave(left, right));
  }

  #write(block: Int16Array): void {
    if (this.#writer !== null) {
      this.#writer.write(block);
      return;
    }
    if (this.#early === null || this.#earlySamples > msToSamples(SPARE_MS, this.#rate) * 2) return;
    this.#early.push(block);
    this.#earlySamples += block.length;
  }
}
