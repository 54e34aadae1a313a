/**
 * Words by which a listener shows that they listen: "mhm", "yeah", "genau". They do not claim the turn. Recognisers
 * write them in many ways ("Mm-hmm.", "Uhhuh", "Ohh", "O.K."), so sounds are recognised by their form.
 * Rules R87 and R201 of SPEC.md.
 */

/** More words than these are meant for the agent. */
const WORDS_MAX = 4;

/** Sounds without hyphens: "mm-hmm", "uhhuh", "ohh". "Uh-uh", which has one h in its middle, means no. */
const SOUND =
  /^(?:m+|h+m+|(?:m+h+m*)+|a+h+|a+h+a+h*|o+h+|u+h+|h+u+h+|u+h{2,}u+h+|uh-huh|okay|ok|okey|mkay)$/u;

const BY_LANGUAGE: Readonly<Record<string, string>> = {
  en:
    "yeah yep yup yes right sure exactly alright great good nice wow really indeed cool fine perfect absolutely " +
    "totally definitely interesting amazing awesome lovely wonderful true",
  de: "ja jaja jo genau stimmt richtig klar gut schön super achso verstehe aja sicher prima toll interessant",
  fr: "oui ouais voilà bon super exactement entendu parfait tiens",
  es: "sí si claro vale bueno ya exacto entiendo ajá perfecto bien",
};

/** Words that only together are one. Their parts alone are not in the tables. */
const PHRASES = [
  ..."uh huh|mm hmm|mm hm|i see|got it|of course|all right|very good|very nice|sounds good|makes sense".split(
    "|",
  ),
  ..."that's nice|that's good|that's great|that's right|that's true|that makes sense|go on|fair enough".split(
    "|",
  ),
  ..."ach so|alles klar|sehr gut|sehr schön|na gut|ja gut".split("|"),
  ..."d'accord|bien sûr|je vois|ah bon|c'est ça|très bien".split("|"),
  ..."de acuerdo|muy bien|así es|por supuesto|ya veo".split("|"),
];
/** Words of the longest phrase. */
const PHRASE_WORDS = 3;

const TABLES = new Map(
  Object.entries(BY_LANGUAGE).map(([language, words]) => [language, new Set(words.split(" "))]),
);
const EVERY = new Set([...TABLES.values()].flatMap((table) => [...table]));
const NONE: ReadonlySet<string> = new Set();

/** `languageHint` null: the words of all languages count. */
export function isBackchannel(text: string, languageHint: string | null): boolean {
  // A question needs an answer: "really?" "okay?"
  if (text.includes("?")) return false;
  return isMadeOf(listenersWords(text), tableOf(languageHint));
}

/** Whether another word would make it a listening word: "of", where "of course" may follow. */
export function mayBecomeBackchannel(text: string, languageHint: string | null): boolean {
  const words = listenersWords(text);
  for (let taken = 1; taken < PHRASE_WORDS && taken <= words.length; taken += 1) {
    const begun = words.slice(-taken).join(" ");
    const rest = words.slice(0, -taken);
    const isBegun = PHRASES.some((phrase) => phrase.startsWith(`${begun} `));
    if (isBegun && (rest.length === 0 || isMadeOf(rest, tableOf(languageHint)))) return true;
  }
  return false;
}

/** "O.K." is one word, and three or more of a letter are one: "yesss", "riiight". */
function listenersWords(text: string): string[] {
  const written = text.replaceAll(/\bo\.\s?k\b\.?/giu, "ok");
  return normalizedWords(written).map((word) => word.replaceAll(/(\p{L})\1{2,}/gu, "$1"));
}

function tableOf(languageHint: string | null): ReadonlySet<string> {
  const language = languageHint?.toLowerCase().split(/[-_]/)[0];
  if (language === undefined) return EVERY;
  return TABLES.get(language) ?? NONE;
}

function isMadeOf(words: readonly string[], table: ReadonlySet<string>): boolean {
  if (words.length === 0 || words.length > WORDS_MAX) return false;
  for (let at = 0; at < words.length;) {
    const taken = lengthOfPhrase(words, at);
    if (taken === 0 && !isOne(words[at] ?? "", table)) return false;
    at += Math.max(1, taken);
  }
  return true;
}

function lengthOfPhrase(words: readonly string[], at: number): number {
  for (let length = PHRASE_WORDS; length > 1; length -= 1) {
    if (PHRASES.includes(words.slice(at, at + length).join(" "))) return length;
  }
  return 0;
}

function isOne(word: string, table: ReadonlySet<string>): boolean {
  return table.has(word) || SOUND.test(word) || (word !== "uh-uh" && SOUND.test(word.replaceAll("-", "")));
}

/** Lower case, without punctuation. */
export function normalizedWords(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll("’", "'")
    .split(/[^\p{L}\p{N}'-]+/u)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
}
