/**
 * Doubles or halves a sample rate with a half-band filter: a windowed sinc of which every second tap is 0 and the others
 * are symmetric, so that it costs a quarter of a filter for any rates. Phone calls need it for every frame: 8 kHz on the
 * line, 16 kHz for recognition.
 *
 * Of the lower rate's band of 0 to 1, it is flat to 0.01 dB up to 7/8 and has -89 dB from 9/8 on. In between it falls
 * through -6 dB at 1, where a phone line carries nothing (ITU-T G.712: 3.4 of 4 kHz).
 */

/** Pairs of taps beside the one in the middle. Both numbers together give the figures above. */
const PAIRS = 24;
/** Of the Kaiser window (Kaiser and Schafer, 1980). */
const BETA = 9;
/** Samples that are worked on at once: 60 ms at 16 kHz. Bounds the scratch memory, which all streams share. */
const SLICE_SAMPLES = 960;

/** Samples that one output needs, of the lower rate when doubling and of the higher one when halving. */
const WINDOW = { double: 2 * PAIRS, halve: 4 * PAIRS - 1 } as const;
/** Of those, the ones before the sample that the output belongs to. */
const BEFORE = { double: PAIRS - 1, halve: 2 * PAIRS - 1 } as const;

const taps = halfBandTaps();
const work = new Float64Array(WINDOW.halve + SLICE_SAMPLES);

export class HalfBand {
  readonly #kind: "double" | "halve";
  /** The last samples, which later output needs; at first the silence before the stream. */
  readonly #held: Float64Array;
  #heldCount: number;

  constructor(kind: "double" | "halve") {
    this.#kind = kind;
    this.#held = new Float64Array(WINDOW[kind]);
    this.#heldCount = BEFORE[kind];
  }

  /** Input samples that come before the output of one: the delay of the filter. */
  get latencySamples(): number {
    return WINDOW[this.#kind] - BEFORE[this.#kind];
  }

  /** What can be computed with these samples, in new memory. Output 0 of a stream belongs to its input 0. */
  push(samples: Int16Array): Int16Array {
    const step = this.#kind === "double" ? 1 : 2;
    const windows = Math.floor((this.#heldCount + samples.length - WINDOW[this.#kind]) / step) + 1;
    const output = new Int16Array(Math.max(0, this.#kind === "double" ? 2 * windows : windows));
    let filled = 0;
    for (let at = 0; at < samples.length; at += SLICE_SAMPLES) {
      filled += this.#slice(samples.subarray(at, at + SLICE_SAMPLES), output, filled);
    }
    return output;
  }

  /** Returns how many samples were written to `output` at `from`. */
  #slice(samples: Int16Array, output: Int16Array, from: number): number {
    const held = this.#heldCount;
    work.set(this.#held.subarray(0, held));
    work.set(samples, held);
    const count = held + samples.length;
    const step = this.#kind === "double" ? 1 : 2;
    const windows = Math.max(0, Math.floor((count - WINDOW[this.#kind]) / step) + 1);
    if (this.#kind === "double") double(windows, output, from);
    else halve(windows, output, from);
    const used = windows * step;
    this.#held.set(work.subarray(used, count));
    this.#heldCount = count - used;
    return this.#kind === "double" ? 2 * windows : windows;
  }
}

/** Each sample as it is, and the one between it and the next. */
function double(windows: number, output: Int16Array, from: number): void {
  for (let i = 0; i < windows; i += 1) {
    const low = i + PAIRS - 1;
    const high = low + 1;
    let sum = 0;
    for (let k = 0; k < PAIRS; k += 1) sum += taps[k]! * (work[low - k]! + work[high + k]!);
    output[from + 2 * i] = work[low]!;
    output[from + 2 * i + 1] = clipped(sum);
  }
}

function halve(windows: number, output: Int16Array, from: number): void {
  for (let i = 0; i < windows; i += 1) {
    const middle = 2 * i + 2 * PAIRS - 1;
    let sum = 0;
    for (let k = 0; k < PAIRS; k += 1) {
      sum += taps[k]! * (work[middle - 2 * k - 1]! + work[middle + 2 * k + 1]!);
    }
    output[from + i] = clipped((work[middle]! + sum) / 2);
  }
}

function clipped(sample: number): number {
  return Math.round(Math.max(-32_768, Math.min(32_767, sample)));
}

/** The taps at odd distances 1, 3, 5 … from the middle; those of both sides add up to 1. */
function halfBandTaps(): Float64Array {
  const values = Float64Array.from({ length: PAIRS }, (_, k) => {
    const distance = 2 * k + 1;
    const angle = (Math.PI * distance) / 2;
    const place = distance / (2 * PAIRS);
    return (Math.sin(angle) / angle) * bessel(BETA * Math.sqrt(1 - place * place));
  });
  const sum = values.reduce((all, value) => all + value, 0);
  return values.map((value) => value / (2 * sum));
}

/** Modified Bessel function of the first kind and order 0, by its series; 40 terms are exact enough up to 20. */
function bessel(x: number): number {
  let [sum, term] = [1, 1];
  for (let k = 1; k <= 40; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
