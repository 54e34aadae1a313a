/** From the times of vendors, per character or per word, to the words of the text that was asked for. */

import type { TtsPart } from "../../ports/tts.ts";
import { wordSpans } from "../../media/words.ts";

export type WordPart = TtsPart & { readonly type: "word" };

/**
 * How far a character or word of the vendor is searched ahead in the text, in letters and digits. Vendors leave out
 * what they do not speak, such as tags; a match further ahead is more likely another word.
 */
const SEARCH_AHEAD = 80;

/** A text as its letters and digits in lower case, each with its place in the text. */
interface Folded {
  readonly letters: string;
  readonly offsets: readonly number[];
}

function fold(text: string): Folded {
  let letters = "";
  const offsets: number[] = [];
  let offset = 0;
  for (const character of text) {
    // "ﬁ" and "²" are several letters or others in vendors' words; "İ" is two in lower case.
    for (const letter of character.normalize("NFKD").toLowerCase()) {
      if (!/[\p{L}\p{N}]/u.test(letter)) continue;
      letters += letter;
      for (let i = 0; i < letter.length; i += 1) offsets.push(offset);
    }
    offset += character.length;
  }
  return { letters, offsets };
}

/**
 * Finds the words of one text, in their order. Words may be whole, in pieces, or several at once; words that are not in
 * the text, such as spelled-out numbers, are left out. Parts come in ascending order of offset and time, and not before
 * the audio that they point into.
 */
export class WordTimes {
  readonly #folded: Folded;
  /** Where words begin among the letters, and their offsets. */
  readonly #starts = new Map<number, number>();
  #at = 0;
  #lastOffset = -1;
  #lastMs = 0;
  #found: WordPart[] = [];

  constructor(text: string) {
    this.#folded = fold(text);
    let letter = 0;
    for (const { start, end } of wordSpans(text)) {
      while ((this.#folded.offsets[letter] ?? Infinity) < start) letter += 1;
      if ((this.#folded.offsets[letter] ?? Infinity) < end) this.#starts.set(letter, start);
    }
  }

  /** `atMs` counts from the beginning of the request's audio. */
  word(word: string, atMs: number): void {
    const wanted = fold(word).letters;
    if (wanted === "" || !Number.isFinite(atMs)) return;
    const found = this.#find(wanted);
    if (found === null) return;
    const offset = this.#starts.get(found);
    if (offset !== undefined) this.#note(offset, atMs);
    this.#at = found + wanted.length;
  }

  /** Characters of the text in their order, each with the time at which it begins. */
  characters(characters: readonly string[], timesMs: readonly number[]): void {
    for (const [index, character] of characters.entries()) {
      const atMs = timesMs[index];
      if (atMs === undefined || !Number.isFinite(atMs)) continue;
      for (const letter of fold(character).letters) {
        const found = this.#findLetter(letter);
        if (found === null) continue;
        const offset = this.#starts.get(found);
        if (offset !== undefined) this.#note(offset, atMs);
        this.#at = found + letter.length;
      }
    }
  }

  /** The words that begin within the audio that has come, `audioMs` long. */
  within(audioMs: number): WordPart[] {
    const ready = this.#found.filter(({ atMs }) => atMs < audioMs);
    this.#found = this.#found.slice(ready.length);
    return ready;
  }

  /** The words that are left, when all audio has come: none points past its end. */
  rest(audioMs: number): WordPart[] {
    const rest = this.#found.map((part) => ({ ...part, atMs: Math.min(part.atMs, audioMs) }));
    this.#found = [];
    return rest;
  }

  /** The next place of `wanted`: here, or where a word begins. */
  #find(wanted: string): number | null {
    const { letters } = this.#folded;
    const end = Math.min(letters.length, this.#at + SEARCH_AHEAD);
    for (let at = this.#at; at < end; at += 1) {
      if ((at === this.#at || this.#starts.has(at)) && letters.startsWith(wanted, at)) return at;
    }
    return null;
  }

  #findLetter(letter: string): number | null {
    const found = this.#folded.letters.indexOf(letter, this.#at);
    if (found === this.#at) return found;
    // A character that is not the next one is taken only at the beginning of a word, where the text goes on.
    for (let at = this.#at; at < this.#at + SEARCH_AHEAD && at < this.#folded.letters.length; at += 1)
      if (this.#starts.has(at) && this.#folded.letters.startsWith(letter, at)) return at;
    return null;
  }

  #note(textOffset: number, atMs: number): void {
    if (textOffset <= this.#lastOffset) return;
    this.#lastOffset = textOffset;
    this.#lastMs = Math.max(this.#lastMs, atMs);
    this.#found.push({ type: "word", textOffset, atMs: this.#lastMs });
  }
}
