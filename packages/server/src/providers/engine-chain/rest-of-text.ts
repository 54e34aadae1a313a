/** From where another voice goes on when one fails within a sentence. Positions are UTF-16 units of the text. Pure. */

import { SPOKEN_CHARS_PER_SECOND } from "../../media/silence.ts";
import { wordSpanAt, wordSpans } from "../../media/words.ts";
import type { Pause } from "./pauses.ts";
import { heardPlace, type Pace } from "./spoken-place.ts";

/** The word at `textOffset` begins at `atMs` of the audio of the whole text. */
export interface TimedWord {
  readonly textOffset: number;
  readonly atMs: number;
  /** By a rate of speech and not by the sound. */
  readonly isEstimate?: true;
}

/** Of a word, so little audio is not understood: the word is said again. */
const UNHEARD_MS = 100;
const USUAL_MS_PER_CHAR = 1_000 / SPOKEN_CHARS_PER_SECOND;
/** Audio so long after the last known time has more words than that one: times may come after their audio. */
const LONGEST_WORD_MS = 1_000;
/**
 * Without a known pace the place where the audio ends is a guess. Its error, as a share: voices differ in their pace by
 * this much. No unheard word is left out while the error is below.
 */
const UNKNOWN_PACE_ERROR = 0.35;
/** A clause of which more than this was heard, about four seconds, is not said again from its beginning. */
const REPEATED_CHARS_MAX = 60;
/** Ends of clauses in common scripts; marks of full width have no space after them. */
const CLAUSE_END = /[,;:.!?…—](?=\s)|[，、；：。！？]/gu;

/** What came of a voice. */
export interface Heard {
  readonly audioMs: number;
  /** In their order; empty: the voice gives no times. */
  readonly words: readonly TimedWord[];
  readonly pauses: readonly Pause[];
}

/** @param pace of the voice; null: not known yet */
export function restFrom(text: string, heard: Heard, pace: Pace | null): number {
  const { audioMs, pauses } = heard;
  const exact = heard.words.filter(({ isEstimate }) => isEstimate !== true);
  // A rate that somebody has set is worth more than a usual one, and less than the pace that was measured.
  const words = exact.length === 0 && pace === null ? heard.words : exact;
  if (words.length > 0) return wordAfter(text, words, audioMs, pace?.msPerWeight ?? USUAL_MS_PER_CHAR);
  if (pace === null) return restAfter(text, (audioMs / USUAL_MS_PER_CHAR) * (1 - UNKNOWN_PACE_ERROR));
  const place = heardPlace(text, pauses, audioMs, pace);
  if (place >= text.length) return text.length;
  return wordSpans(text).findLast(({ start }) => start <= place)?.start ?? 0;
}

/** The first word that has not begun. */
function wordAfter(text: string, words: readonly TimedWord[], audioMs: number, pace: number): number {
  const begun = words.filter(({ atMs }) => atMs < audioMs - UNHEARD_MS);
  const last = begun.at(-1);
  if (last === undefined) return 0;
  const next = words[begun.length];
  if (next !== undefined) return next.textOffset;
  const { end } = wordSpanAt(text, last.textOffset);
  const untimedMs = audioMs - last.atMs;
  const heardTo = untimedMs > LONGEST_WORD_MS ? Math.max(end, last.textOffset + untimedMs / pace) : end;
  return wordSpans(text).find(({ start }) => start >= heardTo)?.start ?? text.length;
}

/**
 * At least `heard` characters were heard. A caller prefers words that come twice to words that are missing, and
 * a clause from its beginning to one from its middle, unless it is long.
 */
function restAfter(text: string, heard: number): number {
  if (heard >= text.length) return text.length;
  const clause = clauseAt(text, heard);
  if (heard - clause <= REPEATED_CHARS_MAX) return clause;
  return wordSpans(text).findLast(({ start }) => start <= heard)?.start ?? clause;
}

/** The beginning of the clause in which `position` is. */
function clauseAt(text: string, position: number): number {
  let start = 0;
  for (const { index, 0: mark } of text.matchAll(CLAUSE_END)) {
    const end = index + mark.length;
    if (end > position) break;
    start = wordSpans(text).find((word) => word.start >= end)?.start ?? text.length;
  }
  return start;
}
