/** A streaming resampler with a windowed sinc: clean for speech, cheap enough for an audio thread. */

/** Zero crossings of the kernel on each side: aliases end below -60 dB. */
const CROSSINGS = 16;
/** Steps of the kernel's table between two crossings. */
const STEPS = 128;
/** Share of the lower rate's band that passes; the rest is the filter's slope. */
const PASSED = 0.92;

export class Resampler {
  readonly #ratio: number;
  readonly #cutoff: number;
  /** Reach of the kernel on each side, in samples. */
  readonly #reach: number;
  readonly #table: Float32Array;
  #rest: Float32Array;
  /** Position of the next sample in `rest`. */
  #at: number;

  constructor(fromHz: number, toHz: number) {
    this.#ratio = fromHz / toHz;
    this.#cutoff = fromHz === toHz ? 1 : Math.min(1, toHz / fromHz) * PASSED;
    this.#reach = Math.ceil(CROSSINGS / this.#cutoff);
    this.#table = kernel();
    this.#rest = new Float32Array(this.#reach);
    this.#at = this.#reach;
  }

  /** Returns the resampled samples so far; they lag by the kernel's reach, a few milliseconds. */
  push(samples: Float32Array): Float32Array {
    if (this.#ratio === 1) return samples.slice();
    const all = new Float32Array(this.#rest.length + samples.length);
    all.set(this.#rest);
    all.set(samples, this.#rest.length);
    const count = Math.max(0, Math.ceil((all.length - this.#reach - this.#at) / this.#ratio));
    const made = new Float32Array(count);
    for (let i = 0; i < count; i += 1) made[i] = this.#sampleAt(all, this.#at + i * this.#ratio);
    const next = this.#at + count * this.#ratio;
    const done = Math.max(0, Math.floor(next) - this.#reach);
    this.#rest = all.slice(done);
    this.#at = next - done;
    return made;
  }

  /** Discards all previous samples. */
  reset(): void {
    this.#rest = new Float32Array(this.#reach);
    this.#at = this.#reach;
  }

  #sampleAt(all: Float32Array, at: number): number {
    const last = Math.min(all.length - 1, Math.floor(at) + this.#reach);
    // Read once: this loop runs a million times for each second of audio.
    const table = this.#table;
    const scale = this.#cutoff * STEPS;
    const end = table.length - 1;
    let sum = 0;
    for (let i = Math.max(0, Math.ceil(at) - this.#reach); i <= last; i += 1) {
      const place = Math.abs(i - at) * scale;
      const step = Math.trunc(place);
      if (step >= end) continue;
      const low = table[step] ?? 0;
      sum += (all[i] ?? 0) * (low + ((table[step + 1] ?? 0) - low) * (place - step));
    }
    return sum * this.#cutoff;
  }
}

/** One side of a sinc with a Blackman window. */
function kernel(): Float32Array {
  const table = new Float32Array(CROSSINGS * STEPS + 1);
  table[0] = 1;
  for (let i = 1; i < table.length; i += 1) {
    const x = (Math.PI * i) / STEPS;
    const turn = (Math.PI * i) / (CROSSINGS * STEPS);
    table[i] = (Math.sin(x) / x) * (0.42 + 0.5 * Math.cos(turn) + 0.08 * Math.cos(2 * turn));
  }
  return table;
}
