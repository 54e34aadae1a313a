/** Chooses an espeak-ng voice for a language. Pure. */

import type { EspeakVoice } from "./frames.ts";

/** The voice where no language is requested, and for plain `en`. */
export const DEFAULT_LANGUAGE = "en-us";

/** Tags that espeak-ng lists under another name than the one that callers use. */
const ALIASES: Readonly<Record<string, string>> = {
  iw: "he",
  in: "id",
  tl: "fil",
  "zh-hk": "yue",
  "zh-mo": "yue",
  "zh-yue": "yue",
  "es-us": "es-419",
};

/**
 * The identifier of the best voice, or null when the language is not available. A tag that is not listed loses its last
 * subtag until one is found: `de-CH-1996`, `de-CH`, `de`.
 */
export function voiceFor(voices: readonly EspeakVoice[], language: string): string | null {
  let tag = language.toLowerCase().replaceAll("_", "-");
  if (tag === DEFAULT_LANGUAGE.split("-", 1)[0]) tag = DEFAULT_LANGUAGE;
  while (tag !== "") {
    const found = bestFor(voices, ALIASES[tag] ?? tag);
    if (found !== null) return found;
    tag = tag.includes("-") ? tag.slice(0, tag.lastIndexOf("-")) : "";
    if (tag === DEFAULT_LANGUAGE.split("-", 1)[0]) tag = DEFAULT_LANGUAGE;
  }
  return null;
}

function bestFor(voices: readonly EspeakVoice[], tag: string): string | null {
  let best: { identifier: string; priority: number } | null = null;
  for (const { identifier, languages } of voices)
    for (const { name, priority } of languages)
      if (name === tag && (best === null || priority < best.priority)) best = { identifier, priority };
  return best?.identifier ?? null;
}
