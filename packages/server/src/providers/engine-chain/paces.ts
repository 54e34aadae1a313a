/** The paces of the voices of a list, from the sentences that they have said. */

import type { Pace } from "./spoken-place.ts";

/** Of each voice, the latest sentences. */
const SENTENCES_MAX = 8;
/** Voices of one engine; the one that was first used is forgotten beyond it. */
const VOICES_MAX = 200;
/** Milliseconds for a letter. Slower and faster speech is not understood: such audio is cut short, silent or no speech. */
const FASTEST = 25;
const SLOWEST = 250;
/** One sentence says little about how much the others differ from it. */
const FIRST_SPREAD = 0.06;
/** Less is chance. */
const LEAST_SPREAD = 0.04;
/** More is a voice that changes its speed. */
const MOST_SPREAD = 0.3;

/** A whole sentence: how long it was without its pauses, and its `spokenWeight`. */
export interface SpokenSentence {
  readonly ms: number;
  readonly weight: number;
}

export class Paces {
  readonly #engines = new WeakMap<object, Map<string, readonly SpokenSentence[]>>();

  /** @param voice of the engine; empty: its own */
  note(engine: object, voice: string, sentence: SpokenSentence): void {
    const msPerWeight = sentence.ms / sentence.weight;
    if (!(msPerWeight >= FASTEST && msPerWeight <= SLOWEST)) return;
    const voices = this.#engines.get(engine) ?? new Map<string, readonly SpokenSentence[]>();
    this.#engines.set(engine, voices);
    const [oldest] = voices.keys();
    if (!voices.has(voice) && voices.size >= VOICES_MAX && oldest !== undefined) voices.delete(oldest);
    voices.set(voice, [...(voices.get(voice) ?? []), sentence].slice(-SENTENCES_MAX));
  }

  /** Null: the voice has said no whole sentence yet. */
  of(engine: object, voice: string): Pace | null {
    const known = this.#engines.get(engine)?.get(voice) ?? [];
    if (known.length === 0) return null;
    const msPerWeight = sumOf(known, ({ ms }) => ms) / sumOf(known, ({ weight }) => weight);
    const differences = sumOf(known, ({ ms, weight }) => Math.abs(ms / weight / msPerWeight - 1));
    const spread = known.length === 1 ? FIRST_SPREAD : Math.max(LEAST_SPREAD, differences / known.length);
    return { msPerWeight, spread: Math.min(MOST_SPREAD, spread) };
  }
}

function sumOf<T>(items: readonly T[], valueOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + valueOf(item), 0);
}
