/**
 * Audio encoder for the data connection of a call (D126): 20 ms frames, mono or the caller left and the agent right.
 */

import type { DataConnectionAudio } from "../../plan/data-connection-plan.ts";
import { FRAME_MS, frameSamples, samplesToMs } from "../../media/frame.ts";
import { Framer } from "../../media/framer.ts";
import { mix } from "../../media/mix.ts";
import { interleave } from "../../media/pcm.ts";
import { Resampler } from "../../media/resample.ts";
import { TwoSidedAudio, type AudioTap } from "../speech/two-sided-audio.ts";

export interface DataAudioOptions {
  readonly audio: DataConnectionAudio;
  readonly callerRateHz: number;
  readonly agentRateHz: number;
  readonly startMs: number;
  /** Takes one frame, valid only during the call. */
  readonly send: (frame: Int16Array) => void;
}

export class DataAudio implements AudioTap {
  readonly #resampler: Resampler;
  readonly #sides: TwoSidedAudio;
  /** Samples of the caller's stream, before and after the resampler: the difference is still in its filter. */
  #receivedMs = 0;
  #convertedMs = 0;
  #closed = false;

  constructor({ audio, callerRateHz, agentRateHz, startMs, send }: DataAudioOptions) {
    const { sampleRateHz, channels } = audio;
    const separated = channels === "separated";
    const framer = new Framer(frameSamples(sampleRateHz) * (separated ? 2 : 1));
    this.#resampler = new Resampler(callerRateHz, sampleRateHz);
    this.#sides = new TwoSidedAudio({
      sampleRateHz,
      agentRateHz,
      startMs,
      blockMs: FRAME_MS,
      take: (left, right) => {
        framer.push(separated ? interleave(left, right) : mix(left, right), send);
      },
    });
  }

  caller(samples: Int16Array, nowMs: number): void {
    if (this.#closed) return;
    const converted = this.#resampler.push(samples);
    this.#receivedMs += samplesToMs(samples.length, this.#resampler.fromHz);
    this.#convertedMs += samplesToMs(converted.length, this.#resampler.toHz);
    if (converted.length > 0) this.#sides.caller(converted, nowMs - (this.#receivedMs - this.#convertedMs));
  }

  agent(samples: Int16Array, startMs: number): void {
    if (!this.#closed) this.#sides.agent(samples, startMs);
  }

  /** Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#sides.close();
    this.#resampler.close();
  }
}
