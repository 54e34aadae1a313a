/**
 * Where in its text a voice is that gives no times of words: from the time that it has spoken, its pace, and its pauses,
 * which are at marks of the text. Positions are UTF-16 units of the text. Pure.
 */

import { spokenMs, type Pause } from "./pauses.ts";

/** Ends of clauses in common scripts; marks of full width have no space after them. */
const CLAUSE_END = /[,;:.!?…—]["')\]]*(?=\s|$)|[，、；：。！？]/gu;
/** In letters: a sign of Chinese or Korean is a syllable or two. */
const SYLLABLE = /[\p{Script=Han}\p{Script=Hangul}]/u;
const SYLLABLE_WEIGHT = 3;
/** In letters: "1,250" is one thousand two hundred and fifty. */
const DIGIT = /\p{N}/u;
const DIGIT_WEIGHT = 5;
const LETTER = /[\p{L}\p{M}]/u;
const SPACE = /\s/u;
const SPACE_WEIGHT = 0.5;
/** In letters: the last syllable before a mark is longer; the pause after it is not counted. */
const CLAUSE_WEIGHT = 2.5;

/**
 * How long a text takes to be spoken without its pauses, in letters. The weights are the best fit of 20 English sentences
 * of eSpeak NG: none of them differs from it by more than a tenth.
 */
export function spokenWeight(text: string): number {
  let weight = 0;
  for (const sign of text) weight += weightOf(sign);
  return weight + CLAUSE_WEIGHT * [...text.matchAll(CLAUSE_END)].length;
}

function weightOf(sign: string): number {
  if (DIGIT.test(sign)) return DIGIT_WEIGHT;
  if (SYLLABLE.test(sign)) return SYLLABLE_WEIGHT;
  if (LETTER.test(sign)) return 1;
  return SPACE.test(sign) ? SPACE_WEIGHT : 0;
}

/** The pace of a voice: of one letter, without pauses. */
export interface Pace {
  readonly msPerWeight: number;
  /** How far sentences of this voice are from it, as a share. */
  readonly spread: number;
}

/** Of a pause, how far it may be from the mark that it belongs to: in letters, and as a share of the way to it. */
const MARK_LETTERS = 4;
const MARK_SHARE = 0.12;
/** Less is a matter of the word that was cut. */
const LEAST_ERROR_LETTERS = 1;

/**
 * So much of the text was heard at least.
 * @param audioMs what came of it
 */
export function heardPlace(text: string, pauses: readonly Pause[], audioMs: number, pace: Pace): number {
  const { msPerWeight, spread } = pace;
  let anchor = { weight: 0, spokenMs: 0 };
  const marks = [...text.matchAll(CLAUSE_END)].map(({ index, 0: mark }) =>
    spokenWeight(text.slice(0, index + mark.length)),
  );
  for (const { fromMs } of pauses) {
    const atMs = spokenMs(pauses, fromMs);
    const way = (atMs - anchor.spokenMs) / msPerWeight;
    const expected = anchor.weight + way;
    const reach = MARK_LETTERS + way * MARK_SHARE;
    const near = marks.filter((mark) => mark > anchor.weight && Math.abs(mark - expected) <= reach);
    const mark = near.toSorted((a, b) => Math.abs(a - expected) - Math.abs(b - expected))[0];
    if (mark !== undefined) anchor = { weight: mark, spokenMs: atMs };
  }
  const way = (spokenMs(pauses, audioMs) - anchor.spokenMs) / msPerWeight;
  const least = way === 0 ? 0 : Math.max(0, way * (1 - spread) - LEAST_ERROR_LETTERS);
  return placeOf(text, anchor.weight + least);
}

/** The position after so many letters; never a space, before which the word was heard. */
function placeOf(text: string, weight: number): number {
  const ends = new Set([...text.matchAll(CLAUSE_END)].map(({ index }) => index));
  let passed = 0;
  let at = 0;
  for (const sign of text) {
    passed += weightOf(sign) + (ends.has(at) ? CLAUSE_WEIGHT : 0);
    if (passed > weight && !SPACE.test(sign)) return at;
    at += sign.length;
  }
  return text.length;
}
