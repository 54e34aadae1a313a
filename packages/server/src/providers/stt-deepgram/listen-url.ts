/** The addresses of live transcriptions, `/v1/listen` and `/v2/listen`: what Deepgram is asked for. */

import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";

/** Deepgram takes at most 100 key terms, or 500 tokens in all; a token has three characters and more. */
export const KEYTERMS_MAX = 100;
export const KEYTERM_CHARS_MAX = 1_500;

export interface ListenRequest {
  /** `http` or `https`, without `/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** BCP 47; null: the model's own default. */
  readonly language: string | null;
  readonly hints: readonly string[];
  /** Silence after which Deepgram tells the end of the speech, in ms, at least 1,000; 0: it does not tell it. */
  readonly endOfTurnMs: number;
}

/** Confidence from which Flux reports an early end of the turn, and its end. 0.7 is its default for the end. */
const EAGER_THRESHOLD = "0.5";
const END_THRESHOLD = "0.7";
/** Its default, where the end of turns is not asked for. */
const FLUX_TIMEOUT_MS = 5_000;

/** Flux, which has its own protocol. A language is for the multilingual model only, as a hint. */
export function fluxUrl({ baseUrl, model, language, hints, endOfTurnMs }: ListenRequest): string {
  const query: [string, string][] = [
    ["model", model],
    ["encoding", "linear16"],
    ["sample_rate", String(STT_SAMPLE_RATE_HZ)],
    ["eager_eot_threshold", EAGER_THRESHOLD],
    ["eot_threshold", END_THRESHOLD],
    ["eot_timeout_ms", String(endOfTurnMs === 0 ? FLUX_TIMEOUT_MS : endOfTurnMs)],
    ...boosted(model, hints),
  ];
  if (language !== null) query.push(["language_hint", language]);
  return socketUrl(baseUrl, "/v2/listen", query);
}

export function listenUrl({ baseUrl, model, language, hints, endOfTurnMs }: ListenRequest): string {
  const query: [string, string][] = [
    ["model", model],
    ["encoding", "linear16"],
    ["sample_rate", String(STT_SAMPLE_RATE_HZ)],
    ["channels", "1"],
    ["interim_results", "true"],
    ["punctuate", "true"],
    // The call decides where an utterance ends: the text of one is not cut at each short pause.
    ["endpointing", endOfTurnMs === 0 ? "false" : String(endOfTurnMs)],
    // By the gap between words, which is found where noise hides the silence.
    ...(endOfTurnMs === 0 ? [] : [["utterance_end_ms", String(endOfTurnMs)] as [string, string]]),
    ...boosted(model, hints),
  ];
  if (language !== null) query.push(["language", language]);
  return socketUrl(baseUrl, "/v1/listen", query);
}

function socketUrl(baseUrl: string, path: string, query: [string, string][]): string {
  const url = new URL(baseUrl);
  url.protocol = url.protocol === "http:" ? "ws:" : "wss:";
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
  url.search = new URLSearchParams(query).toString();
  return url.href;
}

/** Nova-3 prefers whole terms, earlier models single words. */
function boosted(model: string, hints: readonly string[]): [string, string][] {
  if (takesTerms(model)) return fitting(hints).map((term) => ["keyterm", term]);
  return fitting(wordsOf(hints)).map((word) => ["keywords", word]);
}

function takesTerms(model: string): boolean {
  return /^(?:nova-3|flux)/i.test(model);
}

function wordsOf(hints: readonly string[]): string[] {
  return [...new Set(hints.flatMap((hint) => hint.split(/[\s:]+/)).filter((word) => word !== ""))];
}

/** How many of the hints Deepgram would take. */
export function hintsThatFit(model: string, hints: readonly string[]): number {
  if (takesTerms(model)) return fitting(hints).length;
  const taken = new Set(fitting(wordsOf(hints)));
  return hints.filter((hint) => wordsOf([hint]).every((word) => taken.has(word))).length;
}

function fitting(terms: readonly string[]): string[] {
  const taken: string[] = [];
  let chars = 0;
  for (const term of terms.slice(0, KEYTERMS_MAX)) {
    chars += term.length;
    if (chars > KEYTERM_CHARS_MAX) break;
    taken.push(term);
  }
  return taken;
}
