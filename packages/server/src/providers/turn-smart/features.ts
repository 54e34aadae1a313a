/**
 * The input of the Smart Turn network: the Whisper log-mel spectrogram of the last 8 s. Every step must follow the
 * recipe of the network's training, because other input gives wrong results without an error: zeros before shorter
 * audio, zero mean and unit variance over all 8 s, frames of 400 samples every 160, each centred and reflected at both
 * ends, 80 mel bands, and a logarithm that reaches 8 decades below the maximum.
 */

import { fourierTransform } from "./fourier.ts";
import { melFilters, MEL_BANDS } from "./mel-filters.ts";

export const FEATURE_RATE_HZ = 16_000;
export const FEATURE_SAMPLES = 8 * FEATURE_RATE_HZ;
export const FRAME_SAMPLES = 400;
const HOP_SAMPLES = 160;
export const FEATURE_FRAMES = FEATURE_SAMPLES / HOP_SAMPLES;
export const FEATURE_VALUES = MEL_BANDS * FEATURE_FRAMES;

const FULL_SCALE = 32_768;
/** Avoids a division by zero for silence. */
const VARIANCE_FLOOR = 1e-7;
const POWER_FLOOR = 1e-10;
/**
 * Whisper's range: values more than 8 decades below the maximum are clipped, then everything is scaled to values near
 * 0.
 */
const RANGE_DECADES = 8;

const BINS = FRAME_SAMPLES / 2 + 1;
const HALF_FRAME = FRAME_SAMPLES / 2;
const filters = melFilters(BINS, FEATURE_RATE_HZ);
const hann = Float64Array.from(
  { length: FRAME_SAMPLES },
  (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / FRAME_SAMPLES),
);

/** Row by row: band 0 in its 800 frames, then band 1, and so on. */
export function smartTurnFeatures(samples: Int16Array): Float32Array<ArrayBuffer> {
  const audio = reflected(normalized(samples));
  const values = new Float64Array(FEATURE_VALUES);
  const re = new Float64Array(FRAME_SAMPLES);
  const im = new Float64Array(FRAME_SAMPLES);
  const power = new Float64Array(BINS);
  const otherPower = new Float64Array(BINS);
  // One complex transform computes two real frames, which halves the work.
  for (let frame = 0; frame < FEATURE_FRAMES; frame += 2) {
    const first = frame * HOP_SAMPLES;
    const second = first + HOP_SAMPLES;
    for (let index = 0; index < FRAME_SAMPLES; index++) {
      re[index] = audio[first + index]! * hann[index]!;
      im[index] = audio[second + index]! * hann[index]!;
    }
    fourierTransform(re, im);
    separate(re, im, power, otherPower);
    writeBands(power, values, frame);
    writeBands(otherPower, values, frame + 1);
  }
  return ranged(values);
}

/** The last 8 s, with zeros in front if shorter, with mean 0 and variance 1. */
function normalized(samples: Int16Array): Float64Array {
  const audio = new Float64Array(FEATURE_SAMPLES);
  const latest = samples.subarray(Math.max(0, samples.length - FEATURE_SAMPLES));
  const start = FEATURE_SAMPLES - latest.length;
  let sum = 0;
  for (let index = 0; index < latest.length; index++) {
    const value = latest[index]! / FULL_SCALE;
    audio[start + index] = value;
    sum += value;
  }
  const mean = sum / FEATURE_SAMPLES;
  let squares = 0;
  for (const value of audio) squares += (value - mean) ** 2;
  const scale = 1 / Math.sqrt(squares / FEATURE_SAMPLES + VARIANCE_FLOOR);
  for (let index = 0; index < FEATURE_SAMPLES; index++) audio[index] = (audio[index]! - mean) * scale;
  return audio;
}

/** Reflects half a frame at each end, without repeating the outermost sample. */
function reflected(audio: Float64Array): Float64Array {
  const padded = new Float64Array(FEATURE_SAMPLES + FRAME_SAMPLES);
  padded.set(audio, HALF_FRAME);
  for (let index = 1; index <= HALF_FRAME; index++) {
    padded[HALF_FRAME - index] = audio[index]!;
    padded[HALF_FRAME + FEATURE_SAMPLES - 1 + index] = audio[FEATURE_SAMPLES - 1 - index]!;
  }
  return padded;
}

/** The powers of two real signals that were transformed together as real and imaginary part. */
function separate(re: Float64Array, im: Float64Array, first: Float64Array, second: Float64Array): void {
  for (let bin = 0; bin < BINS; bin++) {
    const mirror = (FRAME_SAMPLES - bin) % FRAME_SAMPLES;
    const evenRe = (re[bin]! + re[mirror]!) / 2;
    const oddIm = (im[bin]! - im[mirror]!) / 2;
    const evenIm = (im[bin]! + im[mirror]!) / 2;
    const oddRe = (re[bin]! - re[mirror]!) / 2;
    first[bin] = evenRe * evenRe + oddIm * oddIm;
    second[bin] = evenIm * evenIm + oddRe * oddRe;
  }
}

function writeBands(power: Float64Array, values: Float64Array, frame: number): void {
  for (const [band, { firstBin, weights }] of filters.entries()) {
    let sum = 0;
    for (let index = 0; index < weights.length; index++) sum += weights[index]! * power[firstBin + index]!;
    values[band * FEATURE_FRAMES + frame] = Math.log10(Math.max(sum, POWER_FLOOR));
  }
}

function ranged(values: Float64Array): Float32Array<ArrayBuffer> {
  let loudest = -Infinity;
  for (const value of values) loudest = Math.max(loudest, value);
  const features = new Float32Array(FEATURE_VALUES);
  for (let index = 0; index < FEATURE_VALUES; index++) {
    features[index] = (Math.max(values[index]!, loudest - RANGE_DECADES) + 4) / 4;
  }
  return features;
}
