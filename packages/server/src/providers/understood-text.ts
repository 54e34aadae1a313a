/** Separates words from the text that speech models write for audio without words. */

/**
 * Whisper and similar models write sounds in square brackets (`[BLANK_AUDIO]`, `[Music]`), and never words, so these
 * are always removed.
 */
const BRACKETED = /\[[^[\]]*\]/gu;
/**
 * The same in round brackets, between stars or notes: `(silence)`, `*coughs*`, `♪ la la ♪`. Words can stand so as well,
 * for example a telephone number's area code, so these count as sounds only where there is nothing else.
 */
const SET_APART = /\([^()]*\)|\*[^*]*\*|♪[^♪]*♪/gu;

const WORD = /[\p{L}\p{N}]/u;

/** The words of a transcript with normalised white space; empty when there are none. */
export function understoodText(transcript: string): string {
  const text = transcript
    .replaceAll(BRACKETED, " ")
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return WORD.test(text.replaceAll(SET_APART, " ")) ? text : "";
}
