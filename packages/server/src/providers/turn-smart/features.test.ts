import { beforeAll, describe, expect, it } from "vitest";
import { readSpeechFixture } from "../../ports/testing/speech-fixtures.ts";
import { FEATURE_FRAMES, FEATURE_SAMPLES, FEATURE_VALUES, smartTurnFeatures } from "./features.ts";
import { fourierTransform } from "./fourier.ts";
import { MEL_BANDS, melEdgesHz, melFilters } from "./mel-filters.ts";

/** Deterministic numbers between -1 and 1. */
function noise(length: number, seed = 1): Float64Array {
  let state = seed;
  return Float64Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 30 - 1;
  });
}

function tone(hz: number, seconds = 8): Int16Array {
  return Int16Array.from({ length: seconds * 16_000 }, (_, index) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * hz * index) / 16_000)),
  );
}

describe("the Fourier transform", () => {
  for (const length of [1, 7, 30, 200, 400]) {
    it(`of ${String(length)} numbers is the sum that defines it, and keeps the energy`, () => {
      const [a, b] = [noise(length, 3), noise(length, 4)];
      const [re, im] = [a.slice(), b.slice()];
      fourierTransform(re, im);
      let energy = 0;
      let worst = 0;
      for (let k = 0; k < length; k++) {
        let [sumRe, sumIm] = [0, 0];
        for (let n = 0; n < length; n++) {
          const angle = (-2 * Math.PI * k * n) / length;
          sumRe += (a[n] ?? 0) * Math.cos(angle) - (b[n] ?? 0) * Math.sin(angle);
          sumIm += (a[n] ?? 0) * Math.sin(angle) + (b[n] ?? 0) * Math.cos(angle);
        }
        worst = Math.max(worst, Math.abs(sumRe - (re[k] ?? NaN)), Math.abs(sumIm - (im[k] ?? NaN)));
        energy += (re[k] ?? 0) ** 2 + (im[k] ?? 0) ** 2;
      }
      expect(worst).toBeLessThan(1e-9);
      const before = [...a, ...b].reduce((sum, value) => sum + value * value, 0);
      expect(energy / length).toBeCloseTo(before, 8);
    });
  }
});

describe("the mel bands", () => {
  it("stand where Slaney's scale has them", () => {
    const edges = melEdgesHz();
    expect(edges).toHaveLength(MEL_BANDS + 2);
    // The scale is linear up to 1 kHz: 15 mel there and 45.245 mel at 8 kHz, cut into 81 steps.
    expect(edges[1]).toBeCloseTo(37.238, 2);
    expect(edges[2]).toBeCloseTo(74.477, 2);
    expect(edges[26]).toBeCloseTo(968.22, 2);
    expect(edges[81]).toBeCloseTo(8_000, 6);
    // Above, a step is a constant factor: 6.4 to the power of 0.5586 / 27.
    expect((edges[60] ?? 0) / (edges[59] ?? 1)).toBeCloseTo(1.03915, 4);
  });

  it("have an area of 1 each", () => {
    for (const { firstBin, weights } of melFilters(20_001, 16_000).slice(0, 79)) {
      expect(firstBin).toBeGreaterThanOrEqual(0);
      const area = weights.reduce((sum, weight) => sum + weight, 0) * 0.4;
      expect(area).toBeCloseTo(1, 2);
    }
  });
});

/** The same in the plainest way: no pairs of frames, no sparse bands, no tables. */
function slowFeatures(samples: Int16Array, frames: readonly number[]): Map<number, number[]> {
  const latest = samples.slice(-FEATURE_SAMPLES);
  const zeros = Array.from({ length: FEATURE_SAMPLES - latest.length }, () => 0);
  const audio = [...zeros, ...Array.from(latest, (x) => x / 32_768)];
  const mean = audio.reduce((sum, x) => sum + x, 0) / audio.length;
  const variance = audio.reduce((sum, x) => sum + (x - mean) ** 2, 0) / audio.length;
  const at = (index: number): number => {
    const mirrored = index < 0 ? -index : index >= FEATURE_SAMPLES ? 2 * FEATURE_SAMPLES - 2 - index : index;
    return ((audio[mirrored] ?? NaN) - mean) / Math.sqrt(variance + 1e-7);
  };
  const edges = melEdgesHz();
  const columns = new Map<number, number[]>();
  for (const frame of frames) {
    const powers = Array.from({ length: 201 }, (_, bin) => {
      let [re, im] = [0, 0];
      for (let n = 0; n < 400; n++) {
        const value = at(frame * 160 + n - 200) * Math.sin((Math.PI * n) / 400) ** 2;
        re += value * Math.cos((2 * Math.PI * bin * n) / 400);
        im += value * Math.sin((2 * Math.PI * bin * n) / 400);
      }
      return re * re + im * im;
    });
    const column = Array.from({ length: 80 }, (_, band) => {
      const [low = 0, centre = 0, high = 0] = edges.slice(band, band + 3);
      const weight = (hz: number): number =>
        Math.max(0, Math.min((hz - low) / (centre - low), (high - hz) / (high - centre))) *
        (2 / (high - low));
      return Math.log10(
        Math.max(
          powers.reduce((sum, power, bin) => sum + power * weight(bin * 40), 0),
          1e-10,
        ),
      );
    });
    columns.set(frame, column);
  }
  return columns;
}

describe("the features", () => {
  let speech: Int16Array;
  beforeAll(() => {
    speech = readSpeechFixture("jfk.wav");
  });

  for (const [name, cut] of [
    ["longer than 8 s", (all: Int16Array) => all],
    ["of 3 s", (all: Int16Array) => all.slice(0, 48_000)],
  ] as const) {
    it(`of speech ${name} are those of a slow and plain calculation`, () => {
      const samples = cut(speech);
      const features = smartTurnFeatures(samples);
      // The loudest point decides where the range ends; it is found from the fast result and then checked.
      const loudest = features.reduce((highest, value) => Math.max(highest, value), -Infinity) * 4 - 4;
      const loudestFrame = features.findIndex((value) => value * 4 - 4 === loudest) % FEATURE_FRAMES;
      const frames = [0, 1, 2, 250, 499, 500, 501, 650, 798, 799, loudestFrame];
      const slow = slowFeatures(samples, frames);
      let worst = 0;
      for (const frame of frames) {
        for (const [band, value] of (slow.get(frame) ?? []).entries()) {
          const expected = (Math.max(value, loudest - 8) + 4) / 4;
          worst = Math.max(worst, Math.abs(expected - (features[band * FEATURE_FRAMES + frame] ?? NaN)));
        }
      }
      expect(worst).toBeLessThan(2e-5);
      expect(Math.max(...(slow.get(loudestFrame) ?? []))).toBeCloseTo(loudest, 4);
    });
  }

  it("are 80 bands of 800 frames within 2 of the highest, for anything", () => {
    for (const samples of [new Int16Array(0), new Int16Array(1).fill(7), speech, tone(1_000)]) {
      const features = smartTurnFeatures(samples);
      expect(features).toHaveLength(FEATURE_VALUES);
      const highest = features.reduce((high, value) => Math.max(high, value), -Infinity);
      const lowest = features.reduce((low, value) => Math.min(low, value), Infinity);
      expect(Number.isFinite(highest)).toBe(true);
      expect(lowest).toBeGreaterThanOrEqual(highest - 2 - 1e-6);
    }
  });

  it("of silence are the floor everywhere", () => {
    const features = smartTurnFeatures(new Int16Array(16_000));
    expect(new Set(features)).toEqual(new Set([-1.5]));
  });

  for (const hz of [200, 440, 1_000, 3_000, 7_000]) {
    it(`show a tone of ${String(hz)} Hz in the band around it`, () => {
      const features = smartTurnFeatures(tone(hz));
      const bands = Array.from(
        { length: MEL_BANDS },
        (_, band) => features[band * FEATURE_FRAMES + 400] ?? NaN,
      );
      const strongest = bands.indexOf(Math.max(...bands));
      const edges = melEdgesHz();
      expect(edges[strongest]).toBeLessThan(hz);
      expect(edges[strongest + 2]).toBeGreaterThan(hz);
    });
  }

  it("hold the newest audio at the end and the silence before a short one at the start", () => {
    const features = smartTurnFeatures(tone(1_000, 1));
    const loudness = (frame: number): number =>
      Math.max(
        ...Array.from({ length: MEL_BANDS }, (_, band) => features[band * FEATURE_FRAMES + frame] ?? NaN),
      );
    expect(loudness(799) - loudness(600)).toBeGreaterThan(1);
    expect(loudness(705) - loudness(690)).toBeGreaterThan(1);
  });

  it("depend on the last 8 s alone, and not on how loud they are", () => {
    const last = speech.slice(-FEATURE_SAMPLES);
    const before = Int16Array.from([...new Int16Array(5_000).fill(9_000), ...last]);
    expect(smartTurnFeatures(before)).toEqual(smartTurnFeatures(last));
    const quiet = smartTurnFeatures(last.map((sample) => 2 * Math.round(sample / 8)));
    const loud = smartTurnFeatures(last.map((sample) => 4 * Math.round(sample / 8)));
    let worst = 0;
    for (const [index, value] of quiet.entries())
      worst = Math.max(worst, Math.abs(value - (loud[index] ?? NaN)));
    // The variance floor is felt a little in quiet speech.
    expect(worst).toBeLessThan(1e-3);
  });
});
