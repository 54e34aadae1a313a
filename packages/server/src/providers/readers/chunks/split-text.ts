/** Divides a long text into parts of a limited size: at the ends of sentences, else between words, else anywhere. */

import { estimateTokens } from "./tokens.ts";

export interface Part {
  readonly text: string;
  readonly tokens: number;
}

/** A text longer than this is divided into words without looking for sentences: no language has such sentences. */
const MAX_SEGMENTED_CHARS = 200_000;
/** Characters of a word without spaces that are cut off at a time; at most as many tokens. */
const CUT_CHARS = 64;

/** Parts of at most `maxTokens`. Without white space, their texts are the text. */
export function splitText(text: string, maxTokens: number, language: string | null): Part[] {
  const whole = { text, tokens: estimateTokens(text) };
  if (whole.tokens <= maxTokens) return whole.tokens === 0 ? [] : [whole];
  const sentences = sentencesOf(text, language).flatMap((sentence) => {
    const tokens = estimateTokens(sentence);
    return tokens <= maxTokens ? [{ text: sentence, tokens }] : splitWords(sentence, maxTokens);
  });
  return packed(sentences, maxTokens);
}

function splitWords(text: string, maxTokens: number): Part[] {
  const words = (text.match(/\S+\s*/gu) ?? []).flatMap((word) => {
    const tokens = estimateTokens(word);
    return tokens <= maxTokens ? [{ text: word, tokens }] : cut(word, Math.min(CUT_CHARS, maxTokens));
  });
  return packed(words, maxTokens);
}

/** Pieces of one or more code points: a surrogate pair is not divided. */
function cut(word: string, chars: number): Part[] {
  const parts: Part[] = [];
  const codePoints = Array.from(word);
  // A code point of a rare script may have two units, which count as letters of one word.
  for (let from = 0; from < codePoints.length; from += chars) {
    const text = codePoints.slice(from, from + chars).join("");
    parts.push({ text, tokens: estimateTokens(text) });
  }
  return parts;
}

/** Joins neighbours as long as they fit. Their texts contain the spaces between them. */
function packed(parts: readonly Part[], maxTokens: number): Part[] {
  const joined: Part[] = [];
  let text = "";
  let tokens = 0;
  const finish = (): void => {
    const trimmed = text.trim();
    if (trimmed !== "") joined.push({ text: trimmed, tokens: estimateTokens(trimmed) });
    text = "";
    tokens = 0;
  };
  for (const part of parts) {
    if (tokens + part.tokens > maxTokens) finish();
    text += part.text;
    tokens += part.tokens;
  }
  finish();
  return joined;
}

function sentencesOf(text: string, language: string | null): string[] {
  if (text.length > MAX_SEGMENTED_CHARS) return [text];
  const segments = new Intl.Segmenter(knownLocale(language), { granularity: "sentence" }).segment(text);
  return Array.from(segments, ({ segment }) => segment);
}

/** A language tag comes from a document, so it may be any text. */
function knownLocale(language: string | null): string {
  try {
    return Intl.getCanonicalLocales(language ?? "en")[0] ?? "en";
  } catch {
    return "en";
  }
}
