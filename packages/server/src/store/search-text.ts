/** What is searched, and how: parts of texts, whatever their case, found by their trigrams. */

import { toStorableText } from "./json-text.ts";

/** Lower-cased here and not in SQL, because the two databases do not lower-case alike outside ASCII. */
export function searchText(texts: readonly string[]): string {
  // U+0001 cannot be typed, so no search matches across two values.
  return toStorableText(texts.join(SEPARATOR)).normalize("NFC").toLowerCase();
}

const SEPARATOR = "\u0001";

/** A LIKE pattern that finds the text anywhere, its wildcards taken as they are. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}

/** Everything of a call that a search looks through, for `calls.search_text`. */
export function callSearchText(
  accountId: string,
  call: {
    readonly metadata: Readonly<Record<string, string>>;
    readonly shortSummary?: string | null;
    readonly summary?: string | null;
  },
): string {
  const summaries = [call.shortSummary, call.summary].filter((text) => typeof text === "string");
  return `${accountLetters(accountId)}${SEPARATOR}${searchText([...Object.values(call.metadata), ...summaries])}`;
}

/** Finds in `calls.search_text` of the account. */
export function callSearchPattern(accountId: string, search: string): string {
  return `%${accountLetters(accountId)}${SEPARATOR}${likePattern(searchText([search]))}`;
}

const ACCOUNT_LETTERS = "bcdfghjkmpqtvwxz";

/**
 * A trigram for the account, 1 of 4,096, made of consonants that hardly a word has: with it a search reads the entries
 * of its own account out of the index that all share, and not those of a large neighbour.
 */
function accountLetters(accountId: string): string {
  return Array.from(accountId.slice(0, 3), (digit) => ACCOUNT_LETTERS[Number.parseInt(digit, 16)] ?? "").join(
    "",
  );
}

/** Whether the index can find the text: it knows texts by three letters or digits in a row. */
export function hasTrigram(search: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(searchText([search]));
}
