/**
 * Speech for fakes of recognisers: each word is 200 ms of a level of its own, with 60 ms of silence after it. A fake
 * hears exactly the words that were sent to it, wherever they are cut, also after a conversion of the sample rate.
 */

import { STT_SAMPLE_RATE_HZ } from "../stt.ts";

const WORD_MS = 200;
const GAP_MS = 60;
/** Shorter runs are the rest of a word that was cut. */
const SHORTEST_MS = 120;
const LOWEST_LEVEL = 2_000;
const STEP = 500;
/** A filter rings at the borders of a word; in its middle the level is exact. */
const TOLERANCE = 120;

export const WORDS = [
  "ten",
  "of",
  "clubs",
  "go",
  "forward",
  "meters",
  "yes",
  "please",
  "wait",
  "stop",
  "table",
  "four",
  "Boston",
  "no",
] as const;

/** Only words of `WORDS`. */
export function speechOf(text: string): Int16Array {
  const words = text.split(" ");
  const wordSamples = (STT_SAMPLE_RATE_HZ * WORD_MS) / 1_000;
  const gapSamples = (STT_SAMPLE_RATE_HZ * GAP_MS) / 1_000;
  const samples = new Int16Array(words.length * (wordSamples + gapSamples));
  for (const [index, word] of words.entries()) {
    const level = levelOf(word);
    const at = index * (wordSamples + gapSamples);
    samples.fill(level, at, at + wordSamples);
  }
  return samples;
}

/** Speech that has none of the words. */
export function unclearSpeech(ms: number): Int16Array {
  return new Int16Array((STT_SAMPLE_RATE_HZ * ms) / 1_000).fill(700);
}

function levelOf(word: string): number {
  const index = WORDS.findIndex((known) => known === word);
  if (index < 0) throw new Error(`the fakes know no word "${word}"`);
  return LOWEST_LEVEL + index * STEP;
}

export interface HeardWord {
  readonly word: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** The words of the audio; one that is cut off is left out. */
export function wordsIn(samples: Int16Array, sampleRateHz: number): HeardWord[] {
  const heard: HeardWord[] = [];
  const shortest = (sampleRateHz * SHORTEST_MS) / 1_000;
  const msOf = (at: number): number => (at * 1_000) / sampleRateHz;
  let start = 0;
  let current: number | null = null;
  for (let at = 0; at <= samples.length; at += 1) {
    const index = at < samples.length ? wordAt(samples[at] ?? 0) : null;
    if (index === current && at < samples.length) continue;
    const word = current === null ? undefined : WORDS[current];
    if (word !== undefined && at - start >= shortest)
      heard.push({ word, startMs: msOf(start), endMs: msOf(at) });
    [start, current] = [at, index];
  }
  return heard;
}

/** Number of the word of this level; null: of none. */
function wordAt(sample: number): number | null {
  const index = Math.round((sample - LOWEST_LEVEL) / STEP);
  if (index < 0 || index >= WORDS.length) return null;
  return Math.abs(sample - (LOWEST_LEVEL + index * STEP)) <= TOLERANCE ? index : null;
}
