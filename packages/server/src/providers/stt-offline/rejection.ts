/**
 * Decides whether a phrase was really said. The grammar always finds some phrase; so the same audio is decoded a second
 * time as any sequence of phones, and the phrase must explain it nearly as well. Scores are log likelihoods per frame
 * of 10 ms in the decoder's unit; what is compared is their difference, the log likelihood ratio of phrase to phones.
 * Above 0 the phrase wins, which it can because its phones are modelled with their neighbours and the loop's are not.
 *
 * The limits were set on recorded human speech (2026: 5 clips of cards and directions, 10 digits, 20 digit sequences
 * made of them, 26 letters, 27 utterances and 162 fragments of free speech, 13 noises and tones; most also with noise
 * at 20 and 12 dB, telephone band, 0.9 and 1.1 of the speed, a tenth of the level). Figures below are of that set.
 */

import { OTHER_PREFIX } from "./grammar-source.ts";

/** A stretch of audio in one decoding. */
export interface Segment {
  /** A word or phone; `<sil>`, `[NOISE]`, `[SPEECH]` are fillers. */
  readonly text: string;
  readonly beginS: number;
  readonly durationS: number;
  /** Log likelihood of the whole stretch. */
  readonly score: number;
}

/**
 * Least mean ratio over the words. Clear phrases have 6 to 15, single digits of a distant microphone -6 to 11; free
 * speech bent into a phrase has -5 to -27.
 */
export const MIN_PHRASE_RATIO = -4.5;

/** Least ratio of the worst word: -19 for a true phrase in noise, -21 to -105 for free speech longer than two words. */
export const MIN_WORD_RATIO = -20;

/**
 * Least mean ratio of what is not words. Pauses have -5 to 2; a phrase found in a part of some other sentence, the rest
 * of it taken for silence, has -20 to -60.
 */
export const MIN_FILLER_RATIO = -15;

export interface Measures {
  readonly phraseRatio: number;
  readonly worstWordRatio: number;
  readonly fillerRatio: number;
}

const FRAMES_PER_S = 100;

function isFiller(segment: Segment): boolean {
  return /^[<[]/.test(segment.text);
}

/** Score of the phones over the same stretch; a phone that crosses an edge is divided in proportion. */
function phoneScore(phones: readonly Segment[], { beginS, durationS }: Segment): number {
  const endS = beginS + durationS;
  let score = 0;
  for (const phone of phones) {
    const overlapS = Math.min(endS, phone.beginS + phone.durationS) - Math.max(beginS, phone.beginS);
    if (overlapS > 0) score += (phone.score * overlapS) / phone.durationS;
  }
  return score;
}

/** Null when the phrase has no word. */
export function measure(phrase: readonly Segment[], phones: readonly Segment[]): Measures | null {
  const words = { gain: 0, frames: 0, worst: Infinity };
  const fillers = { gain: 0, frames: 0 };
  for (const segment of phrase) {
    const gain = segment.score - phoneScore(phones, segment);
    const frames = segment.durationS * FRAMES_PER_S;
    if (frames <= 0) continue;
    const sum = isFiller(segment) ? fillers : words;
    sum.gain += gain;
    sum.frames += frames;
    if (!isFiller(segment)) words.worst = Math.min(words.worst, gain / frames);
  }
  if (words.frames === 0) return null;
  return {
    phraseRatio: words.gain / words.frames,
    worstWordRatio: words.worst,
    fillerRatio: fillers.frames === 0 ? 0 : fillers.gain / fillers.frames,
  };
}

/** The words of the phrase; empty when it was not said or is outside the domain. */
export function acceptedText(phrase: readonly Segment[], phones: readonly Segment[]): string {
  const measures = measure(phrase, phones);
  const words = phrase.filter((segment) => !isFiller(segment)).map(({ text }) => text);
  if (measures === null || words.some((word) => word.startsWith(OTHER_PREFIX))) return "";
  const isSaid =
    measures.phraseRatio >= MIN_PHRASE_RATIO &&
    measures.worstWordRatio >= MIN_WORD_RATIO &&
    measures.fillerRatio >= MIN_FILLER_RATIO;
  return isSaid ? words.map((word) => word.replace(/\(\d+\)$/, "")).join(" ") : "";
}
