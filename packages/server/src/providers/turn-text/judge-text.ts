/**
 * Estimates whether words sound finished: by their end, by what the agent asked, and by numbers or names that are
 * incomplete.
 */

import { emailAddress, englishGoesOn, isEnglishVerb } from "./english-clauses.ts";
import { WORD_TABLES, type WordTable } from "./word-tables.ts";

/** Probabilities that the user has finished. Below 0.25 the words are clearly unfinished, below 0.5 probably so. */
export const OPINION = {
  /** A complete short answer to the agent's question, for which the least wait is right. */
  answered: 0.97,
  requested: 0.9,
  sentence: 0.8,
  plain: 0.65,
  rather: 0.35,
  unfinished: 0.15,
  filler: 0.08,
} as const;

/** Limit of words of a complete answer, such as "in New York". */
const ANSWER_WORDS = 3;
/** Number of single digits in a row that begin a longer number. */
const DIGIT_RUN = 3;
/** Digits of the shortest number that the user is known to continue after announcing it. */
const ANNOUNCED_MIN = 5;
/** Number of single letters in a row that count as spelling a name. */
const LETTER_RUN = 2;
/** Number of letters after which a spelled name may be complete. */
const LONG_SPELLING = 5;
/** With more words after "if" or "when" the text probably contains the main clause as well. */
const CLAUSE_WORDS = 14;
/** Limit of characters that are read: only the end of a text matters. */
const TEXT_END_CHARS = 300;

export interface Words {
  readonly text: string;
  readonly agentText: string;
  readonly language: string | null;
}

interface Reading {
  readonly table: WordTable;
  readonly words: readonly string[];
  readonly last: string;
  readonly phrase: string;
  readonly agentText: string;
  readonly requested: boolean;
  readonly mark: string;
}

/** Null: no opinion. */
export function judgeText({ text, agentText, language }: Words): number | null {
  const end = text.trim().slice(-TEXT_END_CHARS);
  if (end === "") return null;
  const mark = /(?:\.\.\.|…|[.!?,;:\-–—])["'”’)\]]*$/u.exec(end)?.[0] ?? "";
  const words = wordsOf(end);
  const table = tableFor(language, words);
  const agent = agentText.trim().toLowerCase().slice(-TEXT_END_CHARS);
  const last = words.at(-1);
  const requested = /\?["'”’)\]]*$/u.test(agent);
  const address = requested ? emailAddress(end.toLowerCase(), agent) : null;
  if (address !== null) return address === "whole" ? OPINION.requested : OPINION.unfinished;
  if (table === null || last === undefined) return byMark(mark);
  const phrase = words.join(" ");
  return opinion({ table, words, last, phrase, agentText: agent, requested, mark });
}

/** In order: the first rule with an opinion decides. */
const RULES: readonly ((reading: Reading) => number | null)[] = [
  byDangling,
  byFiller,
  byDigits,
  bySpelling,
  byAnswer,
  byQuestion,
  byEnding,
  byClause,
  byShortAnswer,
  byEnglish,
];

function opinion(reading: Reading): number {
  for (const rule of RULES) {
    const finished = rule(reading);
    if (finished !== null) return finished;
  }
  return byMark(reading.mark) ?? OPINION.plain;
}

function byMark(mark: string): number | null {
  if (mark === "") return null;
  if (mark.startsWith("?")) return OPINION.requested;
  if (/^(?:\.\.\.|…)/.test(mark)) return OPINION.rather;
  return /^[.!]/.test(mark) ? OPINION.sentence : OPINION.unfinished;
}

function byDangling({ mark }: Reading): number | null {
  if (mark === "" || /^[.!?]/.test(mark) || mark.startsWith("…")) return null;
  return OPINION.unfinished;
}

function byFiller({ table, last, phrase, words }: Reading): number | null {
  if (!table.fillers.has(last)) return null;
  // "well" and similar words also end sentences: "I feel well".
  const isWord =
    table.closedEndings.some((ending) => endsWith(phrase, ending)) || /^(?:well|bon|bueno|este)$/.test(last);
  return isWord && words.length > 1 ? null : OPINION.filler;
}

/** A requested number that is incomplete, or digits spoken one by one. */
function byDigits({ table, words, agentText, last }: Reading): number | null {
  if (digitsOf(table, last) === 0) return null;
  const digits = words.reduce((sum, word) => sum + digitsOf(table, word), 0);
  const wanted = table.asksForDigits.find(({ words: asking }) => asking.test(agentText));
  if (wanted !== undefined) {
    if (digits < wanted.least) return OPINION.unfinished;
    return digits === wanted.least && wanted.least > 5 ? OPINION.sentence : OPINION.requested;
  }
  if (isBeginningOfAnnounced(table, words)) return OPINION.unfinished;
  const run = endRun(words, (word) => digitsOf(table, word) > 0);
  const single = endRun(words, (word) => digitsOf(table, word) === 1);
  if (single >= DIGIT_RUN && run < 10) return OPINION.rather;
  return null;
}

/** Only the last digits of a number are spoken: "it ends in 1234". */
const END_OF_NUMBER = /\b(?:last|ends?|ending|endet|letzte\w*|termine|derniers?|termina)\b|últim[oa]s/;

/** "My phone number is five five five": the user announced a number that is not complete. */
function isBeginningOfAnnounced(table: WordTable, words: readonly string[]): boolean {
  const run = endRun(words, (word) => digitsOf(table, word) > 0);
  const before = words.slice(0, words.length - run).join(" ");
  if (!table.numberNoun.test(before) || END_OF_NUMBER.test(before)) return false;
  const wanted = table.asksForDigits.find(({ words: naming }) => naming.test(before));
  // Shorter numbers are spoken without a pause, and also name rooms and orders of any length.
  if (wanted === undefined || wanted.least < ANNOUNCED_MIN) return false;
  const digits = words.slice(words.length - run).reduce((sum, word) => sum + digitsOf(table, word), 0);
  return digits < wanted.least;
}

function bySpelling({ table, words, phrase, agentText }: Reading): number | null {
  const letters = endRun(words, (word) => /^\p{L}$/u.test(word) || digitsOf(table, word) === 1);
  const announced = table.spelling.test(phrase);
  if (announced && (letters > 0 || words.length - letters <= 3) && letters < LONG_SPELLING) {
    return OPINION.unfinished;
  }
  if (letters < LETTER_RUN || !words.slice(-letters).some((word) => /^\p{L}$/u.test(word))) return null;
  if (announced || table.spelling.test(agentText)) {
    return letters < LONG_SPELLING ? OPINION.unfinished : OPINION.rather;
  }
  return OPINION.rather;
}

/** "Yes", "no thank you", "tomorrow": complete, above all after a question. */
function byAnswer({ table, words, requested, phrase }: Reading): number | null {
  if (table.openEndings.includes(phrase)) return null;
  if (words.length > 4 || !words.every((word) => table.answers.has(word) || table.fillers.has(word)))
    return null;
  return requested ? OPINION.answered : OPINION.requested;
}

function byQuestion({ mark }: Reading): number | null {
  return mark.startsWith("?") ? OPINION.requested : null;
}

function byEnding({ table, last, phrase, mark, words, requested }: Reading): number | null {
  if (table.closedEndings.some((ending) => endsWith(phrase, ending))) {
    return requested && words.length <= ANSWER_WORDS ? OPINION.requested : OPINION.sentence;
  }
  // Recognisers also put a full stop behind fragments, so a full stop only decides for ambiguous words.
  if (table.openEndings.some((ending) => endsWith(phrase, ending))) return OPINION.unfinished;
  if (table.never.has(last)) return OPINION.unfinished;
  if (!table.seldom.has(last)) return null;
  if (isEnglish(table) && opensPhrase(words)) return OPINION.unfinished;
  if (COMPARISON.test(phrase)) return OPINION.plain;
  if (mark !== "") return OPINION.plain;
  return OPINION.rather;
}

/** A clause that introduces another one, or a form of address before the sentence begins. */
function byClause({ table, words, requested, mark }: Reading): number | null {
  const [first = ""] = words;
  if (mark !== "") return null;
  if (isEnglish(table) && !requested && isConditionAlone(words)) return OPINION.unfinished;
  // "Because I am tired" answers a question.
  if (table.subordinators.has(first) && words.length <= CLAUSE_WORDS && !requested) return OPINION.rather;
  const joins = ENGLISH_JOINTS.has(first) && words.length > 2;
  return joins && !words.some((word) => isEnglishVerb(word)) ? OPINION.rather : null;
}

/** The requested information, in one to three words. */
function byShortAnswer({ requested, words, table }: Reading): number | null {
  if (!requested || words.length > ANSWER_WORDS) return null;
  const [first = ""] = words;
  // "I live", "we" and similar words begin a new sentence.
  return table.never.has(first) && words.length > 1 && first.length < 3 ? null : OPINION.answered;
}

function byEnglish({ table, words, mark, requested }: Reading): number | null {
  if (!isEnglish(table)) return null;
  const goesOn = englishGoesOn(
    words,
    words.some((word) => digitsOf(table, word) > 0),
  );
  if (goesOn === "strong") return OPINION.unfinished;
  // After a question a few words without a verb are an answer.
  return goesOn === "weak" && mark === "" && !requested ? OPINION.rather : null;
}

/** "More than he was", "that is what I have": the auxiliary replaces what was said before. */
const COMPARISON = /\b(?:than|as|what|where|how|who) (?:i|you|he|she|it|we|they|this|that) \p{L}+$/u;
const ENGLISH_JOINTS: ReadonlySet<string> = new Set(["and", "so", "but", "or", "now"]);
/**
 * "A table for", "a problem with": after a noun with its article a preposition begins a phrase; "waiting for" may end
 * one.
 */
const AFTER_NOUN =
  /\b(?:an?|the|my|your|our|another|some|any|one|two) (?:\p{L}+ )?(\p{L}{3,}) (?:for|with|about|at|to)$/u;
/** A question may end with the preposition that its first word belongs to: "what is the money for". */
const ASKING = /\b(?:what|who|whom|whose|which|where|when|how|why)\b/;

function opensPhrase(words: readonly string[]): boolean {
  const phrase = words.join(" ");
  const noun = AFTER_NOUN.exec(phrase)?.[1];
  return noun !== undefined && !isEnglishVerb(noun) && !ASKING.test(phrase);
}

/** Limit of words of a condition without a main clause. */
const CONDITION_WORDS = 8;
const CONDITIONS: ReadonlySet<string> = new Set(["if", "unless", "although"]);
const SUBJECTS: ReadonlySet<string> = new Set(
  "i you we they he she it there i'm i'll i'd you're we're we'll it's there's".split(" "),
);
/** "If you could send it", "if you don't mind": requests and additions that are complete. */
const POLITE: ReadonlySet<string> = new Set(
  "could would can may might please mind possible okay fine remember not want like".split(" "),
);

/** "If you have a free room": one subject, one verb, and no main clause. */
function isConditionAlone(words: readonly string[]): boolean {
  const [first = "", subject = "", ...rest] = words;
  if (!CONDITIONS.has(first) || !SUBJECTS.has(subject) || words.length > CONDITION_WORDS) return false;
  if (rest.some((word) => SUBJECTS.has(word) || POLITE.has(word))) return false;
  return rest.length > 1 && rest.filter((word) => isEnglishVerb(word)).length <= 1;
}

function isEnglish(table: WordTable): boolean {
  return table === WORD_TABLES.get("en");
}

function endsWith(phrase: string, ending: string): boolean {
  return phrase === ending || phrase.endsWith(` ${ending}`);
}

/** Number of words at the end that are of a kind. */
function endRun(words: readonly string[], isOne: (word: string) => boolean): number {
  const other = words.findLastIndex((word) => !isOne(word));
  return words.length - 1 - other;
}

/** Number of digits of a word: of written ones, or 1 for a spoken digit; numbers such as "twenty" count as one. */
function digitsOf(table: WordTable, word: string): number {
  if (/^\d+$/.test(word)) return word.length;
  return table.digits.has(word) || table.numbers.has(word) ? 1 : 0;
}

function wordsOf(text: string): readonly string[] {
  return text
    .toLowerCase()
    .replaceAll("’", "'")
    .split(/[^\p{L}\p{N}'-]+/u)
    .map((word) => word.replace(/^['-]+|[-]+$/g, ""))
    .filter((word) => word !== "");
}

/** The named language, or else the one whose common words occur. */
function tableFor(language: string | null, words: readonly string[]): WordTable | null {
  if (language !== null) return WORD_TABLES.get(language.toLowerCase().split(/[-_]/)[0] ?? "") ?? null;
  let best: WordTable | null = null;
  let most = 0;
  for (const table of WORD_TABLES.values()) {
    const known = words.filter((word) => table.marks.has(word)).length * 2;
    const closed = words.filter(
      (word) =>
        table.answers.has(word) || table.fillers.has(word) || table.digits.has(word) || table.never.has(word),
    );
    const hits = known + closed.length;
    if (hits > most) {
      best = table;
      most = hits;
    }
  }
  return best;
}
