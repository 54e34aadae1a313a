/**
 * Entries of the index of transcripts: the number of a span, and a word or a fact about the call. With the span in each
 * entry, a search reads the entries of one span of one account only.
 */

import type { EndReason } from "@parley/schema";
import { wantedWords } from "./words.ts";

/** What is known of an ended call besides its words, and never changes. */
export interface CallFacts {
  readonly agentId: string | null;
  readonly voiceId: string | null;
  readonly endReason: EndReason | null;
}

/** Stands for the number of the span in a query for any span. No word and no fact contains it. */
export const ANY_SPAN = "#";

/** A tsvector as text. Words have letters, marks and digits only, so nothing needs an escape. */
export function entriesOf(spanId: number, words: Iterable<string>, facts: CallFacts): string {
  const { agentId, voiceId, endReason } = facts;
  return [
    ...(agentId === null ? [] : [agentEntry(agentId)]),
    ...(voiceId === null ? [] : [voiceEntry(voiceId)]),
    ...(endReason === null ? [] : [endEntry(endReason)]),
    ...words,
  ]
    .map((entry) => `'${String(spanId)}.${entry}'`)
    .join(" ");
}

export interface WantedFacts {
  readonly agentIds?: readonly string[] | undefined;
  readonly voiceId?: string | undefined;
  readonly endReason?: EndReason | undefined;
}

/** A tsquery as text, with `ANY_SPAN` in place of the number. Null: nothing can match. */
export function textQuery(search: string, facts: WantedFacts): string | null {
  const { agentIds, voiceId, endReason } = facts;
  const words = wantedWords(search);
  if (words.length === 0 || agentIds?.length === 0) return null;
  const term = (entry: string): string => `'${ANY_SPAN}.${entry}'`;
  return [
    ...words.map(({ word, isBeginning }) => `${term(word)}${isBeginning ? ":*" : ""}`),
    ...(agentIds === undefined ? [] : [`(${agentIds.map((id) => term(agentEntry(id))).join(" | ")})`]),
    ...(voiceId === undefined ? [] : [term(voiceEntry(voiceId))]),
    ...(endReason === undefined ? [] : [term(endEntry(endReason))]),
  ].join(" & ");
}

const agentEntry = (id: string): string => `@a${id.toLowerCase()}`;
const voiceEntry = (id: string): string => `@v${id.toLowerCase()}`;
const endEntry = (reason: EndReason): string => `@e${reason}`;
