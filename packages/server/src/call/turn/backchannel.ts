/**
 * Words by which a listener shows that they listen: "mhm", "yeah", "genau".They do not claim the turn.
 * Rule R87 of SPEC.md.
 */

/** More words than these are meant for the agent. */
const WORDS_MAX = 4;

const ANY = "mhm mm mmm mmhm mmhmm hm hmm hmmm uh-huh uhhuh aha ah oh uh huh okay ok";

const BY_LANGUAGE: Readonly<Record<string, string>> = {
  en: "yeah yep yup yes right sure exactly alright great good nice wow really indeed cool fine i see got it of course",
  de: "ja jaja jo genau stimmt richtig klar gut schön super ach so verstehe achso aja sicher alles klar",
  fr: "oui ouais d'accord voilà bien sûr bon super exactement je vois ah bon c'est ça entendu",
  es: "sí si claro vale bueno ya exacto entiendo de acuerdo muy bien ajá así es",
};

/** Two words that only together are one. Their parts alone are not in the tables. */
const PAIRS = [
  "uh huh",
  "mm hmm",
  "mm hm",
  "i see",
  "got it",
  "of course",
  "ach so",
  "alles klar",
  "bien sûr",
].concat(["je vois", "ah bon", "c'est ça", "de acuerdo", "muy bien", "así es"]);

const PARTS = new Set(
  PAIRS.flatMap((pair) => pair.split(" ")).filter((part) => !/^(?:ah|bon|uh|mm|hm|hmm)$/.test(part)),
);
const TABLES = new Map(
  Object.entries(BY_LANGUAGE).map(([language, words]) => [
    language,
    new Set(`${ANY} ${words}`.split(" ").filter((word) => !PARTS.has(word))),
  ]),
);
const EVERY = new Set([...TABLES.values()].flatMap((table) => [...table]));

/** `languageHint` null: the words of all languages count. */
export function isBackchannel(text: string, languageHint: string | null): boolean {
  // A question needs an answer: "really?" "okay?"
  if (text.includes("?")) return false;
  return isMadeOf(normalizedWords(text), tableOf(languageHint));
}

/** Whether another word would make it a listening word: "of", where "of course" may follow. */
export function mayBecomeBackchannel(text: string, languageHint: string | null): boolean {
  const words = normalizedWords(text);
  const last = words.pop();
  if (last === undefined || !PAIRS.some((pair) => pair.startsWith(`${last} `))) return false;
  return words.length === 0 || isMadeOf(words, tableOf(languageHint));
}

function tableOf(languageHint: string | null): ReadonlySet<string> {
  const language = languageHint?.toLowerCase().split(/[-_]/)[0];
  if (language === undefined) return EVERY;
  return TABLES.get(language) ?? new Set(ANY.split(" "));
}

function isMadeOf(words: readonly string[], table: ReadonlySet<string>): boolean {
  if (words.length === 0 || words.length > WORDS_MAX) return false;
  for (let at = 0; at < words.length; at += 1) {
    if (PAIRS.includes(`${words[at] ?? ""} ${words[at + 1] ?? ""}`)) at += 1;
    else if (!table.has(words[at] ?? "")) return false;
  }
  return true;
}

/** Lower case, without punctuation. */
export function normalizedWords(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll("’", "'")
    .split(/[^\p{L}\p{N}'-]+/u)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
}
