/** Words of chunks for full-text search: the same expression writes and searches them. */

import { sql, type RawBuilder } from "kysely";

/** Dictionaries that every PostgreSQL has, by the language of BCP 47. */
const DICTIONARIES: Readonly<Record<string, string>> = {
  ar: "arabic",
  ca: "catalan",
  da: "danish",
  de: "german",
  el: "greek",
  en: "english",
  es: "spanish",
  eu: "basque",
  fi: "finnish",
  fr: "french",
  ga: "irish",
  hi: "hindi",
  hu: "hungarian",
  hy: "armenian",
  id: "indonesian",
  it: "italian",
  lt: "lithuanian",
  nb: "norwegian",
  ne: "nepali",
  nl: "dutch",
  no: "norwegian",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sr: "serbian",
  sv: "swedish",
  ta: "tamil",
  tr: "turkish",
  yi: "yiddish",
};

/** The text search configuration of a language; `simple`, which only splits words, for an unknown or other one. */
export function dictionaryOf(language: string | null): string {
  const [tag = ""] = (language ?? "").toLowerCase().split(/[-_]/, 1);
  return Object.hasOwn(DICTIONARIES, tag) ? (DICTIONARIES[tag] ?? "simple") : "simple";
}

/** The `words` of a text of that language: an SQL expression of the type `tsvector`. */
export function wordsOfText(language: string | null, text: string): RawBuilder<string> {
  return sql<string>`to_tsvector(${dictionaryOf(language)}::regconfig, ${text})`;
}
