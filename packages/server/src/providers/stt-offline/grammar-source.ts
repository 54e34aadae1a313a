/** Builds the recogniser's grammar from its two data files and the dictionary. */

/** Prefix in the dictionary of the words of `<other>`, by which they are recognised in results. */
export const OTHER_PREFIX = "other_";

/** Limit of pronunciations of one word; the dictionary has at most six. */
const MAX_PRONUNCIATIONS = 8;

export interface GrammarSource {
  /** A JSGF grammar; refers to `<other>` without defining it. */
  readonly grammar: string;
  /** Words separated by white space; lines that begin with `#` are comments. */
  readonly otherWords: string;
}

export interface Grammar {
  readonly jsgf: string;
  /** Words to add to the dictionary, each with its phones. */
  readonly addedWords: readonly (readonly [word: string, phones: string])[];
}

/** The words that a JSGF grammar contains, each once. */
export function wordsOf(grammar: string): string[] {
  const plain = grammar
    .replaceAll(/\/\/.*$/gm, "")
    .replaceAll(/^(#JSGF|grammar).*$/gm, "")
    .replaceAll(/<[^>]*>|\/[\d.]+\/|\bpublic\b/g, " ");
  return [...new Set(plain.match(/[a-z']+/g) ?? [])];
}

/**
 * @param lookUp the phones of a dictionary entry (`word`, `word(2)`, …), or null when there is none
 * @throws when a word of the grammar is not in the dictionary
 */
export function buildGrammar(source: GrammarSource, lookUp: (entry: string) => string | null): Grammar {
  const pronunciationsOf = (word: string): string[] => {
    const found: string[] = [];
    for (let index = 1; index <= MAX_PRONUNCIATIONS; index++) {
      const phones = lookUp(index === 1 ? word : `${word}(${String(index)})`);
      if (phones === null) break;
      found.push(phones);
    }
    return found;
  };
  const words = wordsOf(source.grammar);
  const unknown = words.filter((word) => lookUp(word) === null);
  if (unknown.length > 0) throw new Error(`the dictionary has no "${unknown.join('", "')}" of the grammar`);

  const spoken = new Set(words.flatMap(pronunciationsOf));
  const others = [...new Set(source.otherWords.replaceAll(/^#.*$/gm, "").match(/\S+/g) ?? [])];
  const heard = new Map<string, string[]>();
  for (const word of others) {
    // A word that sounds like one of the grammar would be recognised instead of it half of the time.
    const own = pronunciationsOf(word).filter((phones) => !spoken.has(phones));
    if (own.length > 0) heard.set(OTHER_PREFIX + word, own);
  }
  if (heard.size === 0) throw new Error("the dictionary has no word outside the grammar for <other>");
  return {
    jsgf: `${source.grammar}\n<other> = ${[...heard.keys()].join(" | ")};\n`,
    addedWords: [...heard].flatMap(([word, own]) =>
      own.map((phones, index) => [index === 0 ? word : `${word}(${String(index + 1)})`, phones] as const),
    ),
  };
}
