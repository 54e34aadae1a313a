/** Pauses in the audio of a voice, as it comes. Pure. */

/** From `fromMs` to `toMs` of the audio nothing is said. */
export interface Pause {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The audio is judged in pieces of this length: shorter ones are within one period of a low voice. */
const FRAME_MS = 10;
/** Of the loudest piece so far, as a share of its mean level. Breath and noise of a voice are below it, consonants above. */
const QUIET_SHARE = 0.04;
/** Below this level (of 32,767) a piece is silent, whatever the rest is. */
const SILENT_LEVEL = 40;
/** Closures of consonants, as in "stop", last up to 0.1 s; pauses between clauses 0.15 s and more. */
const SHORTEST_PAUSE_MS = 120;

export class Pauses {
  /** Pieces that are joined: the loudness of each. A sentence of half a minute has 3,000. */
  readonly #levels: number[] = [];
  #frameMs = FRAME_MS;
  #loudest = 0;
  #sum = 0;
  #count = 0;

  /** @param sampleRateHz the same each time */
  push(samples: Int16Array, sampleRateHz: number): void {
    const frameSamples = Math.round((sampleRateHz * FRAME_MS) / 1_000);
    this.#frameMs = (frameSamples * 1_000) / sampleRateHz;
    for (const sample of samples) {
      this.#sum += Math.abs(sample);
      this.#count += 1;
      if (this.#count < frameSamples) continue;
      const level = this.#sum / this.#count;
      this.#levels.push(level);
      this.#loudest = Math.max(this.#loudest, level);
      this.#sum = 0;
      this.#count = 0;
    }
  }

  /** In their order; that at the beginning and that at the end count as well. */
  find(): readonly Pause[] {
    const limit = Math.max(SILENT_LEVEL, this.#loudest * QUIET_SHARE);
    const found: Pause[] = [];
    let from: number | null = null;
    for (let index = 0; index <= this.#levels.length; index += 1) {
      const isQuiet = (this.#levels[index] ?? Infinity) < limit;
      if (isQuiet) from ??= index;
      if (isQuiet || from === null) continue;
      if ((index - from) * this.#frameMs >= SHORTEST_PAUSE_MS)
        found.push({ fromMs: from * this.#frameMs, toMs: index * this.#frameMs });
      from = null;
    }
    return found;
  }
}

/** Of the audio until `untilMs`, what is no pause. */
export function spokenMs(pauses: readonly Pause[], untilMs: number): number {
  return pauses.reduce(
    (left, { fromMs, toMs }) => left - Math.max(0, Math.min(toMs, untilMs) - fromMs),
    untilMs,
  );
}
