/**
 * How likely a chunk answers a question, from 0 to 1: a logistic regression over what full text and vectors say about
 * it. `npm run bench:retrieval` fits its numbers on the development half of its questions, and prints how well they hold
 * on the other half. Pure.
 */

import type { Background } from "../store/corpora/vectors/near-vectors.ts";

export interface Signs {
  /** The share of the question's words that the chunk has, 0 to 1; null: none. */
  readonly coverage: number | null;
  /** Null: vectors were not searched. */
  readonly nearness: number | null;
  /** The place among all hits, from 1. */
  readonly rank: number;
}

/**
 * How far a chunk stands out of its corpus, in deviations: models differ in the cosines that they give to texts that
 * have nothing in common. Subtracted is what the nearest of so many chunks would reach by chance.
 */
export function nearnessOf(cosine: number, { mean, deviation, count }: Background): number {
  // A corpus of a few chunks has no measure of chance: half of the usual spread is assumed.
  const spread = count < FEW_CHUNKS ? Math.max(deviation, LEAST_SPREAD) : deviation;
  if (spread <= 0) return 0;
  return (cosine - mean) / spread - Math.sqrt(2 * Math.log(Math.max(count, 2)));
}

const FEW_CHUNKS = 20;
const LEAST_SPREAD = 0.1;

export interface Weights {
  readonly constant: number;
  readonly coverage: number;
  readonly nearness: number;
  /** Of 1 / rank. */
  readonly place: number;
}

export const TEXT_ONLY: Weights = { constant: -6.39, coverage: 4.07, nearness: 0, place: 2.98 };
export const TEXT_AND_VECTORS: Weights = { constant: -5.83, coverage: 3.27, nearness: 0.18, place: 2.73 };

export function relevanceOf({ coverage, nearness, rank }: Signs): number {
  const weights = nearness === null ? TEXT_ONLY : TEXT_AND_VECTORS;
  const far = Math.max(nearness ?? 0, FAR);
  const sum =
    weights.constant + weights.coverage * (coverage ?? 0) + weights.nearness * far + weights.place / rank;
  return 1 / (1 + Math.exp(-sum));
}

/** A chunk that was found by its words alone has no nearness: it counts as one that is far. */
export const FAR = -3;
