/**
 * Makes text safe for espeak-ng and cuts it into pieces, keeping for every character where it came from. Pure.
 *
 * espeak-ng reads `<…>` and `&…;` as markup and `[[…]]` as phonemes, and it names symbols ("asterisk") that a model
 * writes for the eye. It counts positions in code points; the port counts UTF-16 units.
 */

export interface Piece {
  readonly text: string;
  /** For each code point of `text`, its UTF-16 offset in the text of the request. Ascending. */
  readonly offsets: readonly number[];
  /** Whether a sentence ends here, so that a pause fits. */
  readonly endsSentence: boolean;
}

/**
 * Limit of one piece, in code points: about 15 s of speech, which espeak-ng synthesizes in 30 to 60 ms. One request can
 * delay the others by this time. Sentences are not split, because that would break their intonation.
 */
export const MAX_PIECE_CHARS = 240;

interface Char {
  readonly text: string;
  readonly offset: number;
}

/** Pieces with at least one letter or digit each; none when the text has none. */
export function cutIntoPieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let open: Char[] = [];
  const close = (): void => {
    const piece = toPiece(open);
    if (piece !== null) pieces.push(piece);
    open = [];
  };
  for (const sentence of sentencesOf(clean(text))) {
    if (open.length > 0 && open.length + sentence.length > MAX_PIECE_CHARS) close();
    let rest = sentence;
    while (rest.length > MAX_PIECE_CHARS) {
      const cut = bestCut(rest);
      open = rest.slice(0, cut);
      rest = rest.slice(cut);
      close();
    }
    open.push(...rest);
  }
  close();
  return pieces;
}

function toPiece(chars: readonly Char[]): Piece | null {
  const text = chars.map((char) => char.text).join("");
  if (!/[\p{L}\p{N}]/u.test(text)) return null;
  return { text, offsets: chars.map((char) => char.offset), endsSentence: SENTENCE_END.test(text) };
}

const SENTENCE_END = /[.!?…。！？:]["'”’)\s]*$/u;
const MARKS = new Set([".", "!", "?", "…", "。", "！", "？"]);
const CLOSERS = new Set(['"', "'", "”", "’", ")", " "]);

/** Each with the space that follows it. A mark ends a sentence when a space follows, so "3.5" stays whole. */
function* sentencesOf(chars: readonly Char[]): Generator<Char[]> {
  let start = 0;
  for (let i = 0; i < chars.length; i += 1) {
    if (!MARKS.has(chars[i]?.text ?? "")) continue;
    let end = i + 1;
    while (end < chars.length && CLOSERS.has(chars[end]?.text ?? "")) end += 1;
    const wide = /[。！？]/u.test(chars[i]?.text ?? "");
    if (!wide && chars[end - 1]?.text !== " " && end < chars.length) continue;
    yield chars.slice(start, end);
    start = end;
    i = end - 1;
  }
  if (start < chars.length) yield chars.slice(start);
}

/** After the last clause within the limit, else after the last space, else at the limit. */
function bestCut(chars: readonly Char[]): number {
  let space = 0;
  let clause = 0;
  for (let i = 0; i < MAX_PIECE_CHARS; i += 1) {
    const char = chars[i]?.text ?? "";
    if (char === " ") {
      space = i + 1;
      if (/[,;:—–]/u.test(chars[i - 1]?.text ?? "")) clause = i + 1;
    } else if (/[、，；]/u.test(char)) clause = i + 1;
  }
  // A clause in the first quarter would give a very short piece.
  return clause > MAX_PIECE_CHARS / 4 ? clause : space > 0 ? space : MAX_PIECE_CHARS;
}

/** Replaces a character that must not reach espeak-ng; a space for those that should not be read out. */
function spoken(char: string, before: string, after: string): string {
  const spaced = /^\s?$/u.test(before) && /^\s?$/u.test(after);
  if (char === "<") return spaced ? " less than " : " ";
  if (char === ">") return spaced ? " greater than " : " ";
  if (char === "&") return " and ";
  if (char === "#") return /\d/u.test(after) ? " number " : " ";
  if (char === "*" && /\d/u.test(before) && /\d/u.test(after)) return " times ";
  return UNSPEAKABLE.test(char) ? " " : char;
}

/** Brackets of phoneme input, marks of Markdown, control characters, line ends, pictures. */
const UNSPEAKABLE =
  /[[\]{}*_`~|\\^\s\p{C}\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\uFFFD]/u;
/** Invisible characters inside words (soft hyphen, joiners, direction marks): removed, not replaced by a space. */
const INVISIBLE = /[\p{Cf}\p{Variation_Selector}]/u;

function clean(text: string): Char[] {
  const kept: Char[] = [];
  const source = Array.from(text.toWellFormed());
  let offset = 0;
  for (const [index, char] of source.entries()) {
    const from = offset;
    offset += char.length;
    if (INVISIBLE.test(char)) continue;
    for (const sound of spoken(char, source[index - 1] ?? "", source[index + 1] ?? "")) {
      const last = kept.at(-1)?.text ?? " ";
      if (sound === " " && last === " ") continue;
      kept.push({ text: sound, offset: from });
    }
  }
  return kept;
}
