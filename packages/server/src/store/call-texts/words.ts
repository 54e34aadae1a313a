/**
 * Words of transcripts and of searches. They are found here and not by PostgreSQL, whose parser depends on the locale of
 * the database. There is no stemming and no list of common words: calls have many languages, and often none is known.
 */

/** Longer runs, such as keys that were read out, are cut: the index has a limit for one entry. */
const LONGEST_WORD = 40;
/** From this length on, a searched word also finds longer words that begin with it. */
const SHORTEST_BEGINNING = 3;
/** Different words of one call: more than anybody says in four hours. Bounds its row, which may have 1 MiB. */
export const WORDS_PER_CALL = 20_000;

const RUN = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts that are written without spaces: each pair of characters counts as a word. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu;

/** Letters of any case and width, without the marks between words. */
function runsOf(text: string): string[] {
  return text.normalize("NFKC").toLowerCase().match(RUN) ?? [];
}

interface Piece {
  readonly characters: readonly string[];
  readonly isSpaced: boolean;
}

function piecesOf(run: string): Piece[] {
  const pieces: Piece[] = [];
  const push = (text: string, isSpaced: boolean): void => {
    if (text !== "") pieces.push({ characters: Array.from(text), isSpaced });
  };
  let at = 0;
  for (const match of run.matchAll(UNSPACED)) {
    push(run.slice(at, match.index), true);
    push(match[0], false);
    at = match.index + match[0].length;
  }
  push(run.slice(at), true);
  return pieces;
}

function pairsOf(characters: readonly string[]): string[] {
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}

/** The different words of a text, at most `WORDS_PER_CALL`. Only letters, their marks, and digits. */
export function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  for (const run of runsOf(text)) {
    if (words.size >= WORDS_PER_CALL) break;
    for (const { characters, isSpaced } of piecesOf(run)) {
      const found = isSpaced
        ? [characters.slice(0, LONGEST_WORD).join("")]
        : [...characters, ...pairsOf(characters)];
      for (const word of found) if (words.size < WORDS_PER_CALL) words.add(word);
    }
  }
  return words;
}

export interface WantedWord {
  readonly word: string;
  /** It also finds longer words that begin with it. */
  readonly isBeginning: boolean;
}

/** The words of a search, all of which must have been said, in any order. Empty: the text has no letter or digit. */
export function wantedWords(search: string): WantedWord[] {
  const wanted = new Map<string, WantedWord>();
  for (const piece of runsOf(search).flatMap(piecesOf)) {
    const { characters, isSpaced } = piece;
    const isBeginning = isSpaced && characters.length >= SHORTEST_BEGINNING;
    const pairs = isSpaced ? [] : pairsOf(characters);
    const whole = characters.slice(0, LONGEST_WORD).join("");
    for (const word of pairs.length > 0 ? pairs : [whole]) wanted.set(word, { word, isBeginning });
  }
  return [...wanted.values()];
}
