/** Search for parts of texts, in any case, with trigram indexes. */

import { toStorableText } from "./json-text.ts";

/** Lower case is computed here and not in SQL, because the two databases differ outside ASCII. */
export function searchText(texts: readonly string[]): string {
  // U+0001 cannot be typed, so no search matches across two values.
  return toStorableText(texts.join(SEPARATOR)).normalize("NFC").toLowerCase();
}

const SEPARATOR = "\u0001";

/** A LIKE pattern that finds the text anywhere; wildcards in it are escaped. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}

/** The searchable texts of a call, for `calls.search_text`. */
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

/** A LIKE pattern for `calls.search_text` of the account. */
export function callSearchPattern(accountId: string, search: string): string {
  return `%${accountLetters(accountId)}${SEPARATOR}${likePattern(searchText([search]))}`;
}

const ACCOUNT_LETTERS = "bcdfghjkmpqtvwxz";

/**
 * A trigram for the account, 1 of 4,096, of consonants that hardly occur in words. With it a search reads only the
 * entries of its account from the shared index, and not those of a large tenant.
 */
function accountLetters(accountId: string): string {
  return Array.from(accountId.slice(0, 3), (digit) => ACCOUNT_LETTERS[Number.parseInt(digit, 16)] ?? "").join(
    "",
  );
}

/** Whether the index can find the text: it needs three letters or digits in a row. */
export function hasTrigram(search: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(searchText([search]));
}
