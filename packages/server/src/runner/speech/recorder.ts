/** A call's recording: left the caller as received, right the agent as heard. */

import { msToSamples } from "../../media/frame.ts";
import { interleave } from "../../media/pcm.ts";
import type { RecordingWriter } from "../../ports/recordings.ts";
import { TwoSidedAudio, type AudioTap } from "./two-sided-audio.ts";

export const HIGHEST_RECORDING_RATE_HZ = 16_000;

/** Audio per write: with 100 calls, 10 writes a second per call would be noticeable, 4 are not. */
const BLOCK_MS = 250;
/** Audio buffered while the file is being created. */
const SPARE_MS = 5_000;

export class Recorder implements AudioTap {
  readonly #rate: number;
  readonly #sides: TwoSidedAudio;
  #writer: RecordingWriter | null = null;
  readonly #ready: Promise<void>;
  /** Blocks buffered before the file was created. */
  #early: Int16Array[] | null = [];
  #earlySamples = 0;
  #closing: Promise<void> | null = null;

  /**
   * @param writer the file being created
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
    // `close` awaits it, maybe an hour later.
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
