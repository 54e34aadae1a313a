/** Words of a text, as positions in UTF-16 units. */

export interface WordSpan {
  readonly start: number;
  /** After the word and its punctuation, before the space. */
  readonly end: number;
}

/** Scripts that are written without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}]/u;

let segmenter: Intl.Segmenter | null = null;

/** Splits at white space, and inside scripts that have none at word boundaries. Ascending, without overlap. */
export function wordSpans(text: string): readonly WordSpan[] {
  const spans: WordSpan[] = [];
  for (const match of text.matchAll(/\S+/g)) {
    const start = match.index;
    const end = start + match[0].length;
    if (!UNSPACED.test(match[0])) {
      spans.push({ start, end });
      continue;
    }
    segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
    const starts = [...segmenter.segment(match[0])].filter((part) => part.isWordLike === true);
    for (let i = 0; i < starts.length; i += 1) {
      const next = starts[i + 1];
      const from = i === 0 ? start : start + starts[i]!.index;
      spans.push({ start: from, end: next === undefined ? end : start + next.index });
    }
    if (starts.length === 0) spans.push({ start, end });
  }
  return spans;
}

/** The word that begins at `offset`: up to the next white space. */
export function wordSpanAt(text: string, offset: number): WordSpan {
  const space = /\s/g;
  space.lastIndex = offset;
  // A voice may point at the space before its word.
  const visible = /\S/g;
  visible.lastIndex = offset;
  const start = visible.exec(text)?.index ?? offset;
  space.lastIndex = start;
  return { start, end: space.exec(text)?.index ?? text.length };
}
