/** Dual tones of telephone keys (ITU-T Q.23, Q.24), as samples. */

import { msToSamples } from "./frame.ts";

export const ROWS_HZ = [697, 770, 852, 941] as const;
export const COLUMNS_HZ = [1_209, 1_336, 1_477, 1_633] as const;
const KEYS = ["123A", "456B", "789C", "*0#D"] as const;

/** Full scale 1. Together -6.3 dBFS: as loud as speech, with headroom for a codec. The higher tone is 2 dB above. */
const ROW_LEVEL = 0.215;
const COLUMN_LEVEL = ROW_LEVEL * 10 ** (2 / 20);
/** A tone that begins or ends at once clicks over all frequencies, and a receiver may miss its key. */
const RAMP_MS = 5;
/** Q.24 asks receivers for 40 ms of tone and of pause; shorter ones are lengthened to be heard. */
export const SHORTEST_TONE_MS = 40;
export const SHORTEST_SPACE_MS = 40;
/** With the most digits this bounds one rendering to two minutes, 12 MB at 48 kHz. */
export const LONGEST_TONE_MS = 1_000;
export const LONGEST_SPACE_MS = 1_000;
/** The longest menus take a dozen and card numbers 19; more are left out. */
export const MOST_DIGITS = 64;

export interface DtmfTones {
  /** 0-9 * # A-D; other characters are left out. */
  readonly digits: string;
  readonly toneMs: number;
  readonly spaceMs: number;
}

export function isDtmfKey(key: string): boolean {
  return frequenciesOf(key) !== null;
}

/** The tones with a pause between them and none at the end; one array for each key. */
export function* dtmfSamples(tones: DtmfTones, sampleRateHz: number): Generator<Int16Array, void, undefined> {
  const keys = Array.from(tones.digits.toUpperCase()).filter(isDtmfKey).slice(0, MOST_DIGITS);
  const toneSamples = msToSamples(within(tones.toneMs, SHORTEST_TONE_MS, LONGEST_TONE_MS), sampleRateHz);
  const spaceSamples = msToSamples(within(tones.spaceMs, SHORTEST_SPACE_MS, LONGEST_SPACE_MS), sampleRateHz);
  for (const [index, key] of keys.entries()) {
    const frequencies = frequenciesOf(key);
    if (frequencies === null) continue;
    const isLast = index === keys.length - 1;
    const samples = new Int16Array(toneSamples + (isLast ? 0 : spaceSamples));
    writeTone(samples.subarray(0, toneSamples), frequencies, sampleRateHz);
    yield samples;
  }
}

function within(ms: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, ms));
}

function frequenciesOf(key: string): readonly [number, number] | null {
  for (const [row, keys] of KEYS.entries()) {
    const column = key.length === 1 ? keys.indexOf(key) : -1;
    const rowHz = ROWS_HZ[row];
    const columnHz = COLUMNS_HZ[column];
    if (rowHz !== undefined && columnHz !== undefined) return [rowHz, columnHz];
  }
  return null;
}

function writeTone(
  samples: Int16Array,
  [rowHz, columnHz]: readonly [number, number],
  sampleRateHz: number,
): void {
  const rampSamples = msToSamples(RAMP_MS, sampleRateHz);
  const rowStep = (2 * Math.PI * rowHz) / sampleRateHz;
  const columnStep = (2 * Math.PI * columnHz) / sampleRateHz;
  const count = samples.length;
  for (let i = 0; i < count; i += 1) {
    const fromEdge = Math.min(i, count - 1 - i);
    // Half a cosine, so that the slope is smooth as well.
    const gain = fromEdge >= rampSamples ? 1 : (1 - Math.cos((Math.PI * fromEdge) / rampSamples)) / 2;
    const value = ROW_LEVEL * Math.sin(rowStep * i) + COLUMN_LEVEL * Math.sin(columnStep * i);
    samples[i] = Math.round(32_767 * gain * value);
  }
}
