/** The audio of a call's latest utterances, for a language model that hears the caller. */

import { STT_MAX_UTTERANCE_MS, STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";

/** Those of the two newest turns, each of which may have been broken once by a reply that was not heard. */
export const KEPT_UTTERANCES = 4;
/** The newest minute of each: 1.9 MB. */
const MAX_SAMPLES = (STT_MAX_UTTERANCE_MS / 1_000) * STT_SAMPLE_RATE_HZ;

interface Spoken {
  /** Copies, in order. */
  readonly parts: Int16Array[];
  samples: number;
}

export class SpokenVoice {
  readonly #utterances = new Map<number, Spoken>();
  /** The utterance that goes on. */
  #open: Spoken | null = null;

  /** @param parts audio from before the utterance was noticed */
  open(utteranceId: number, parts: readonly Int16Array[]): void {
    this.#open = { parts: [], samples: 0 };
    this.#utterances.set(utteranceId, this.#open);
    for (const part of parts) this.push(part);
    const [oldest] = this.#utterances.keys();
    if (this.#utterances.size > KEPT_UTTERANCES && oldest !== undefined) this.#utterances.delete(oldest);
  }

  /** 16 kHz mono; the samples are copied. */
  push(samples: Int16Array): void {
    const spoken = this.#open;
    if (spoken === null || samples.length === 0) return;
    spoken.parts.push(samples.slice());
    spoken.samples += samples.length;
    const [first] = spoken.parts;
    if (first === undefined || spoken.samples - first.length < MAX_SAMPLES) return;
    spoken.parts.shift();
    spoken.samples -= first.length;
  }

  /** What was said stays; what follows belongs to no utterance. */
  end(utteranceId: number): void {
    if (this.#utterances.get(utteranceId) === this.#open) this.#open = null;
  }

  /** The newest minute, in a new array; null: unknown or too old. */
  samplesOf(utteranceId: number): Int16Array | null {
    const spoken = this.#utterances.get(utteranceId);
    if (spoken === undefined) return null;
    const all = new Int16Array(spoken.samples);
    let filled = 0;
    for (const part of spoken.parts) {
      all.set(part, filled);
      filled += part.length;
    }
    return all.subarray(Math.max(0, all.length - MAX_SAMPLES));
  }

  close(): void {
    this.#utterances.clear();
    this.#open = null;
  }
}
