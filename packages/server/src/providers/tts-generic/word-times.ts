/** Times of words by a rate of speech, for a voice that has none of its own. Pure. */

import { wordSpans } from "../../media/words.ts";
import type { TtsPart } from "../../ports/tts.ts";

/** An ordinary rate of speech, and the default of the interface. */
const DEFAULT_WORDS_PER_MINUTE = 150;

type WordPart = TtsPart & { readonly type: "word" };

export interface WordTimes {
  /** The words that begin before this time and were not given yet. */
  before(ms: number): Generator<WordPart>;
  /** Those that by the rate would come after the end: they were spoken by then. */
  rest(endMs: number): Generator<WordPart>;
}

export function openWordTimes(text: string, wordsPerMinute = DEFAULT_WORDS_PER_MINUTE): WordTimes {
  const spans = wordSpans(text);
  const msPerWord = 60_000 / wordsPerMinute;
  let given = 0;
  function* upTo(limitMs: number, endMs: number): Generator<WordPart> {
    for (let span = spans[given]; span !== undefined; span = spans[given]) {
      const atMs = given * msPerWord;
      if (atMs >= limitMs) return;
      given += 1;
      yield { type: "word", textOffset: span.start, atMs: Math.min(atMs, endMs), isEstimate: true };
    }
  }
  return { before: (ms) => upTo(ms, Infinity), rest: (endMs) => upTo(Infinity, endMs) };
}
