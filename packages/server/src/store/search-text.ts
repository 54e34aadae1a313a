import { toStorableText } from "./json-text.ts";

/** Lower-cased here and not in SQL, because the two databases do not lower-case alike outside ASCII. */
export function searchText(texts: readonly string[]): string {
  // U+0001 cannot be typed, so no search matches across two values.
  return toStorableText(texts.join("\u0001")).toLowerCase();
}

/** A LIKE pattern that finds the text anywhere, its wildcards taken as they are. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}
