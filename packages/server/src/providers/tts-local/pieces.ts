/**
 * Makes text safe for a model's voice and cuts it into pieces, each of which is spoken at once: the first is short, so
 * that its audio comes soon. Pure.
 */

/** About 15 s of speech. One request delays the others by at most this, which a fast voice makes in a second. */
export const MAX_PIECE_CHARS = 240;
/** A clause of about 3 s, of which the audio is there in a third of the time of a whole sentence. */
const MAX_FIRST_CHARS = 60;

/** Pieces with at least one letter or digit each; none when the text has none. */
export function cutIntoPieces(text: string): string[] {
  const pieces: string[] = [];
  let rest = clean(text);
  while (rest !== "") {
    const longest = pieces.length === 0 ? MAX_FIRST_CHARS : MAX_PIECE_CHARS;
    const cut = cutOf(rest, longest);
    const piece = rest.slice(0, cut).trim();
    if (/[\p{L}\p{N}]/u.test(piece)) pieces.push(piece);
    rest = rest.slice(cut).trimStart();
  }
  return pieces;
}

/** Symbols that models write for the eye, and what a phonemizer could read as a command, are not spoken. */
function clean(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/&(?=\s|\p{L})/gu, " and ")
    .replaceAll(/[\p{Cc}\p{Cf}\p{So}\p{Co}\uFFFD<>[\]{}|\\^~`*_#]/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

const SENTENCE_ENDS = /[.!?…]+["')\]]*(?=\s)|[。！？]/gu;
const CLAUSE_ENDS = /[,;:—–](?=\s)|[、，；]/gu;

/** After the last sentence that fits; else after the last clause, the last word, or anywhere. */
function cutOf(text: string, longest: number): number {
  const isFirst = longest === MAX_FIRST_CHARS;
  const [sentence] = endsOf(text, SENTENCE_ENDS, MAX_PIECE_CHARS);
  // A first sentence is spoken whole if it is short; further ones would only delay it.
  if (isFirst && sentence !== undefined && sentence <= longest) return sentence;
  if (!isFirst && text.length <= longest) return text.length;
  for (const pattern of isFirst ? [CLAUSE_ENDS] : [SENTENCE_ENDS, CLAUSE_ENDS]) {
    const last = endsOf(text, pattern, longest).at(-1);
    if (last !== undefined) return last;
  }
  // The first piece is no part of a clause, which would sound cut off, unless the clause is far too long.
  if (isFirst)
    return sentence ?? (text.length <= MAX_PIECE_CHARS ? text.length : cutOf(text, MAX_PIECE_CHARS));
  const space = text.lastIndexOf(" ", longest);
  if (space > 0) return space;
  // Never between the halves of a character.
  return /[\uD800-\uDBFF]/.test(text.charAt(longest - 1)) ? longest - 1 : longest;
}

/** Where a match ends, up to `longest`. */
function endsOf(text: string, pattern: RegExp, longest: number): number[] {
  const ends: number[] = [];
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    if (end > longest) break;
    ends.push(end);
  }
  return ends;
}
