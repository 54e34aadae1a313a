/** Tells words from what speech models write where they heard none. */

/**
 * Whisper and its kin write sounds in square brackets (`[BLANK_AUDIO]`, `[Music]`), and never words, so these go
 * wherever they stand.
 */
const BRACKETED = /\[[^[\]]*\]/gu;
/**
 * The same in round brackets, between stars or notes: `(silence)`, `*coughs*`, `♪ la la ♪`. Words can stand so as well,
 * for example a telephone number's area code, so these count as sounds only where there is nothing else.
 */
const SET_APART = /\([^()]*\)|\*[^*]*\*|♪[^♪]*♪/gu;

const WORD = /[\p{L}\p{N}]/u;

/** The words of a transcript with plain white space; empty when there is none. */
export function understoodText(transcript: string): string {
  const text = transcript
    .replaceAll(BRACKETED, " ")
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return WORD.test(text.replaceAll(SET_APART, " ")) ? text : "";
}
