/** From where another voice goes on when one fails within a sentence. Positions are UTF-16 units of the text. */

import { SPOKEN_CHARS_PER_SECOND } from "../../media/silence.ts";
import { wordSpanAt, wordSpans } from "../../media/words.ts";

/** The word at `textOffset` begins at `atMs` of the audio of the whole text. */
export interface TimedWord {
  readonly textOffset: number;
  readonly atMs: number;
}

/** Of a word, so little audio is not understood: the word is said again. */
const UNHEARD_MS = 100;
/** Audio so long after the last known time has more words than that one: times may come after their audio. */
const LONGEST_WORD_MS = 1_000;
/**
 * Without times of words the place where the audio ends is an estimate. Its error, as a share: sentences of one voice
 * differ in their pace by this much, and voices by the second one. No unheard word is left out while the error is below.
 */
const PACE_ERROR = 0.15;
const UNKNOWN_PACE_ERROR = 0.35;
/** A clause of which more than this was heard, about four seconds, is not said again from its beginning. */
const REPEATED_CHARS_MAX = 60;
/** Ends of clauses in common scripts; marks of full width have no space after them. */
const CLAUSE_END = /[,;:.!?…—](?=\s)|[，、；：。！？]/gu;

/** @param msPerChar the pace of the voice; null: not known yet */
export function restFrom(
  text: string,
  words: readonly TimedWord[],
  audioMs: number,
  msPerChar: number | null,
): number {
  const pace = msPerChar ?? 1_000 / SPOKEN_CHARS_PER_SECOND;
  if (words.length > 0) return wordAfter(text, words, audioMs, pace);
  const error = msPerChar === null ? UNKNOWN_PACE_ERROR : PACE_ERROR;
  return restAfter(text, (audioMs / pace) * (1 - error));
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
