/** A call's recording: left the caller as received, right the agent as heard. */

import { msToSamples } from "../media/frame.ts";
import { interleave } from "../media/pcm.ts";
import type { RecordingWriter } from "../ports/recordings.ts";
import { TwoSidedAudio, type AudioTap } from "./two-sided-audio.ts";

export const HIGHEST_RECORDING_RATE_HZ = 16_000;

/** Written at once; 10 writes a second and call would be felt with 100 calls, 4 are not. */
const BLOCK_MS = 250;
/** Audio kept while the file is being made. */
const SPARE_MS = 5_000;

export class Recorder implements AudioTap {
  readonly #rate: number;
  readonly #sides: TwoSidedAudio;
  #writer: RecordingWriter | null = null;
  readonly #ready: Promise<void>;
  /** Blocks made before the file was. */
  #early: Int16Array[] | null = [];
  #earlySamples = 0;
  #closing: Promise<void> | null = null;

  /**
   * @param writer the file in the making
   * @param sampleRateHz of the recording and of the caller's samples
   * @param agentRateHz of the agent's samples
   */
  constructor(writer: Promise<RecordingWriter>, sampleRateHz: number, agentRateHz: number, startMs: number) {
    this.#rate = sampleRateHz;
    this.#sides = new TwoSidedAudio({
      sampleRateHz,
      agentRateHz,
      startMs,
      blockMs: BLOCK_MS,
      take: (left, right) => {
        this.#write(interleave(left, right));
      },
    });
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

  caller(samples: Int16Array, nowMs: number): void {
    this.#sides.caller(samples, nowMs);
  }

  agent(samples: Int16Array, startMs: number): void {
    this.#sides.agent(samples, startMs);
  }

  /** Writes the rest and finishes the file. Rejects when a part could not be written. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    this.#sides.finish();
    await this.#ready;
    await this.#writer?.close();
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
