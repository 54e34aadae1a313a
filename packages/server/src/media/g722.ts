/**
 * G.722 at 64 kbit/s: 16 kHz speech, each byte two samples. ITU-T G.722: a quadrature mirror filter splits the signal
 * into two bands of 8 kHz, and each band is coded as the difference from an adaptive prediction, with 6 bits (low) and
 * 2 bits (high). Names of blocks are those of the recommendation; all arithmetic is in whole numbers, as it demands.
 *
 * Its RTP clock is 8,000 Hz although the samples have 16 kHz (RFC 3551, section 4.5.2).
 */

/** Decision levels of the low band (table 7, Q6). */
const Q6 = new Int16Array([
  0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219,
  1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919,
]);
/** Codes of the low band for negative and positive differences, by the interval found. */
const NEGATIVE_LOW = new Int8Array([
  0, 63, 62, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7,
  6, 5, 4,
]);
const POSITIVE_LOW = new Int8Array([
  0, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36,
  35, 34, 33, 32,
]);
const NEGATIVE_HIGH = Int8Array.of(0, 1, 0);
const POSITIVE_HIGH = Int8Array.of(0, 3, 2);
/** Inverse quantisers with 6, 4 and 2 bits. */
const QM6 = new Int16Array([
  -136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360,
  -8576, -7856, -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688,
  -1360, -1040, -728, 24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192,
  6576, 6000, 5456, 4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432,
  -136,
]);
const QM4 = new Int16Array([
  0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0,
]);
const QM2 = Int16Array.of(-7408, -1616, 7408, 1616);
/** Steps of the logarithmic scale factors, by code. */
const LOW_SCALE_STEPS = new Int16Array([
  -60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60,
]);
const HIGH_SCALE_STEPS = Int16Array.of(798, -214, 798, -214);
/** 2^(11 + n / 32), the linear scale factor (ILB). */
const ILB = new Int16Array([
  2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896, 2960,
  3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
]);
/** One half of the symmetric filter of 24 taps. */
const QMF = Int16Array.of(3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11);
const QMF_TAPS = 24;

const LOW_SCALE_LIMIT = 18_432;
const HIGH_SCALE_LIMIT = 22_528;
const HIGH_DECISION = 564;
const LOW_FIRST_STEP = 32;
const HIGH_FIRST_STEP = 8;

function saturated(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : value;
}

/** 15 bits, what the bands have before they are joined. */
function limited15(value: number): number {
  return value > 16_383 ? 16_383 : value < -16_384 ? -16_384 : value;
}

/** The adaptive predictor and quantiser step of one band (blocks 3 and 4). */
class Band {
  /** Quantiser step size (DET). */
  step: number;
  /** The predicted signal (S). */
  predicted = 0;
  readonly #steps: Int16Array;
  readonly #scaleLimit: number;
  readonly #scaleShift: number;
  /** Logarithmic scale factor (NB). */
  #scale = 0;
  #zeroPart = 0;
  #a1 = 0;
  #a2 = 0;
  #r1 = 0;
  #p1 = 0;
  #p2 = 0;
  /** Differences before this one, the newest first (D), and their coefficients (B). */
  readonly #d = new Int32Array(6);
  readonly #b = new Int32Array(6);

  constructor(firstStep: number, steps: Int16Array, scaleLimit: number, scaleShift: number) {
    this.step = firstStep;
    this.#steps = steps;
    this.#scaleLimit = scaleLimit;
    this.#scaleShift = scaleShift;
  }

  /** @param difference the quantised difference; `code` is what it was coded as */
  adapt(difference: number, code: number): void {
    this.#adaptScale(code);
    this.#predict(difference);
  }

  /** LOGSCL, SCALEL, LOGSCH and SCALEH. */
  #adaptScale(code: number): void {
    const scale = ((this.#scale * 127) >> 7) + this.#steps[code]!;
    this.#scale = scale < 0 ? 0 : scale > this.#scaleLimit ? this.#scaleLimit : scale;
    const shift = this.#scaleShift - (this.#scale >> 11);
    const base = ILB[(this.#scale >> 6) & 31]!;
    this.step = (shift < 0 ? base << -shift : base >> shift) << 2;
  }

  /** RECONS to PREDIC. */
  #predict(difference: number): void {
    const reconstructed = saturated(this.predicted + difference);
    const partial = saturated(this.#zeroPart + difference);
    this.#adaptPoles(partial);
    const zeroPart = this.#adaptZeros(difference);
    const pole1 = (this.#a1 * saturated(2 * reconstructed)) >> 15;
    const pole2 = (this.#a2 * saturated(2 * this.#r1)) >> 15;
    this.#r1 = reconstructed;
    this.#zeroPart = zeroPart;
    this.predicted = saturated(saturated(pole1 + pole2) + zeroPart);
  }

  /** UPPOL2 and UPPOL1. */
  #adaptPoles(partial: number): void {
    const sameAsLast = partial < 0 === this.#p1 < 0;
    const sameAsBefore = partial < 0 === this.#p2 < 0;
    const quadruple = saturated(this.#a1 << 2);
    const towards = sameAsLast ? Math.min(-quadruple, 32_767) : quadruple;
    const raw2 = (sameAsBefore ? 128 : -128) + (towards >> 7) + ((this.#a2 * 32_512) >> 15);
    const a2 = Math.max(-12_288, Math.min(12_288, raw2));
    const raw1 = saturated((sameAsLast ? 192 : -192) + ((this.#a1 * 32_640) >> 15));
    const limit = saturated(15_360 - a2);
    this.#a1 = Math.max(-limit, Math.min(limit, raw1));
    this.#a2 = a2;
    this.#p2 = this.#p1;
    this.#p1 = partial;
  }

  /** UPZERO, DELAYA and FILTEZ; the new part of the prediction. */
  #adaptZeros(difference: number): number {
    const d = this.#d;
    const b = this.#b;
    const change = difference === 0 ? 0 : 128;
    const isNegative = difference < 0;
    let sum = 0;
    for (let i = 5; i >= 0; i -= 1) {
      const same = d[i]! < 0 === isNegative;
      const coefficient = saturated((same ? change : -change) + ((b[i]! * 32_640) >> 15));
      b[i] = coefficient;
      const next = i === 0 ? difference : d[i - 1]!;
      d[i] = next;
      sum += (coefficient * saturated(2 * next)) >> 15;
    }
    return saturated(sum);
  }
}

function lowBand(): Band {
  return new Band(LOW_FIRST_STEP, LOW_SCALE_STEPS, LOW_SCALE_LIMIT, 8);
}

function highBand(): Band {
  return new Band(HIGH_FIRST_STEP, HIGH_SCALE_STEPS, HIGH_SCALE_LIMIT, 10);
}

/** The last samples, twice in a row, so that every window of 24 is one piece. */
class FilterLine {
  readonly samples = new Int32Array(2 * QMF_TAPS);
  at = 0;

  push(first: number, second: number): void {
    const { samples, at } = this;
    samples[at] = samples[at + QMF_TAPS] = first;
    samples[at + 1] = samples[at + 1 + QMF_TAPS] = second;
    this.at = (at + 2) % QMF_TAPS;
  }
}

/** One stream; what came before decides what a sample is coded as. */
export class G722Encoder {
  readonly #low = lowBand();
  readonly #high = highBand();
  readonly #line = new FilterLine();

  /** 16 kHz samples, an even number of them; a last odd one is left out. */
  encode(samples: Int16Array): Uint8Array {
    const bytes = new Uint8Array(samples.length >> 1);
    for (let i = 0; i < bytes.length; i += 1) {
      bytes[i] = this.#byteOf(samples[2 * i]!, samples[2 * i + 1]!);
    }
    return bytes;
  }

  #byteOf(first: number, second: number): number {
    const line = this.#line;
    line.push(first, second);
    const { samples, at } = line;
    let odd = 0;
    let even = 0;
    for (let i = 0; i < 12; i += 1) {
      odd += samples[at + 2 * i]! * QMF[i]!;
      even += samples[at + 2 * i + 1]! * QMF[11 - i]!;
    }
    const low = this.#codeLow((even + odd) >> 14);
    return (this.#codeHigh((even - odd) >> 14) << 6) | low;
  }

  /** SUBTRA, QUANTL and INVQAL. */
  #codeLow(sample: number): number {
    const band = this.#low;
    const difference = saturated(sample - band.predicted);
    const size = difference >= 0 ? difference : -(difference + 1);
    let interval = 1;
    while (interval < 30 && size >= (Q6[interval]! * band.step) >> 12) interval += 1;
    const code = difference < 0 ? NEGATIVE_LOW[interval]! : POSITIVE_LOW[interval]!;
    band.adapt((band.step * QM4[code >> 2]!) >> 15, code >> 2);
    return code;
  }

  #codeHigh(sample: number): number {
    const band = this.#high;
    const difference = saturated(sample - band.predicted);
    const size = difference >= 0 ? difference : -(difference + 1);
    const interval = size >= (HIGH_DECISION * band.step) >> 12 ? 2 : 1;
    const code = difference < 0 ? NEGATIVE_HIGH[interval]! : POSITIVE_HIGH[interval]!;
    band.adapt((band.step * QM2[code]!) >> 15, code);
    return code;
  }
}

/** One stream. */
export class G722Decoder {
  readonly #low = lowBand();
  readonly #high = highBand();
  readonly #line = new FilterLine();

  /** Two samples at 16 kHz for each byte. */
  decode(bytes: Uint8Array): Int16Array {
    const samples = new Int16Array(2 * bytes.length);
    for (let i = 0; i < bytes.length; i += 1) this.#decode(bytes[i]!, samples, 2 * i);
    return samples;
  }

  #decode(byte: number, into: Int16Array, offset: number): void {
    const low = this.#lowOf(byte & 0x3f);
    const high = this.#highOf(byte >> 6);
    const line = this.#line;
    line.push(low + high, low - high);
    const { samples, at } = line;
    let first = 0;
    let second = 0;
    for (let i = 0; i < 12; i += 1) {
      second += samples[at + 2 * i]! * QMF[i]!;
      first += samples[at + 2 * i + 1]! * QMF[11 - i]!;
    }
    into[offset] = saturated(first >> 11);
    into[offset + 1] = saturated(second >> 11);
  }

  #lowOf(code: number): number {
    const band = this.#low;
    const sample = limited15(band.predicted + ((band.step * QM6[code]!) >> 15));
    band.adapt((band.step * QM4[code >> 2]!) >> 15, code >> 2);
    return sample;
  }

  #highOf(code: number): number {
    const band = this.#high;
    const difference = (band.step * QM2[code]!) >> 15;
    const sample = limited15(difference + band.predicted);
    band.adapt(difference, code);
    return sample;
  }
}
