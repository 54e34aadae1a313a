/**
 * Latent semantic analysis (Deerwester and others, 1990): an embedder that is computed from the corpus itself. It stands
 * in for a model of embeddings, of which none can be part of this repository.
 */

import { unitVector, type Embedder } from "../../src/ports/corpora/embedder.ts";

const DIMENSIONS = 200;
/** Rounds of subspace iteration; with more the results below no longer change. */
const ROUNDS = 6;

/** Terms of a text with their weights, by the number of the term. */
type Sparse = readonly (readonly [number, number])[];

export function openLsaEmbedder(texts: readonly string[]): Embedder {
  const counts = texts.map(countWords);
  const documents = new Map<string, number>();
  for (const count of counts)
    for (const word of count.keys()) documents.set(word, (documents.get(word) ?? 0) + 1);
  const known = [...documents].filter(([, count]) => count >= 2);
  const terms = new Map(known.map(([word], index) => [word, index]));
  const idf = known.map(([, count]) => Math.log(texts.length / count));
  const weigh = (words: ReadonlyMap<string, number>): Sparse => {
    const sparse = [...words].flatMap(([word, count]) => {
      const term = terms.get(word);
      return term === undefined ? [] : [[term, (1 + Math.log(count)) * (idf[term] ?? 0)] as const];
    });
    const length = Math.hypot(...sparse.map(([, weight]) => weight));
    return sparse.map(([term, weight]) => [term, length === 0 ? 0 : weight / length] as const);
  };
  const basis = subspace(counts.map(weigh), terms.size);
  const embed = (text: string): Float32Array => {
    const vector = project(weigh(countWords(text)), basis);
    // A text of unknown words alone has no direction of its own.
    vector[0] = (vector[0] ?? 0) + 1e-6;
    return unitVector(vector) ?? new Float32Array(DIMENSIONS).fill(1 / Math.sqrt(DIMENSIONS));
  };
  return {
    model: `lsa-${String(DIMENSIONS)}`,
    basis: "the corpus itself",
    maxTexts: 64,
    embed: (given) => Promise.resolve(given.map(embed)),
  };
}

/** English words without their commonest endings, so that forms of a word are one term. */
function countWords(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? []) {
    const stem = word.length > 4 ? word.replace(/(?:ies|ing|ed|es|s|ly)$/, "") : word;
    counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  return counts;
}

function project(sparse: Sparse, basis: Float64Array): Float64Array {
  const vector = new Float64Array(DIMENSIONS);
  for (const [term, weight] of sparse)
    for (let part = 0; part < DIMENSIONS; part += 1)
      vector[part] = (vector[part] ?? 0) + weight * (basis[term * DIMENSIONS + part] ?? 0);
  return vector;
}

/**
 * An orthonormal basis of the space of the largest singular vectors of the terms. Cosines do not depend on which basis
 * of the space it is, so the vectors themselves are not needed.
 */
function subspace(rows: readonly Sparse[], termsCount: number): Float64Array {
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647 - 0.5;
  };
  let basis = Float64Array.from({ length: termsCount * DIMENSIONS }, random);
  orthonormalize(basis, termsCount);
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = new Float64Array(termsCount * DIMENSIONS);
    for (const row of rows) {
      const vector = project(row, basis);
      for (const [term, weight] of row)
        for (let part = 0; part < DIMENSIONS; part += 1) {
          const place = term * DIMENSIONS + part;
          next[place] = (next[place] ?? 0) + weight * (vector[part] ?? 0);
        }
    }
    basis = next;
    orthonormalize(basis, termsCount);
  }
  return basis;
}

/** Gram and Schmidt, column by column. */
function orthonormalize(basis: Float64Array, rows: number): void {
  const at = (row: number, column: number): number => basis[row * DIMENSIONS + column] ?? 0;
  for (let column = 0; column < DIMENSIONS; column += 1) {
    for (let earlier = 0; earlier < column; earlier += 1) {
      let sum = 0;
      for (let row = 0; row < rows; row += 1) sum += at(row, column) * at(row, earlier);
      for (let row = 0; row < rows; row += 1)
        basis[row * DIMENSIONS + column] = at(row, column) - sum * at(row, earlier);
    }
    let squares = 0;
    for (let row = 0; row < rows; row += 1) squares += at(row, column) ** 2;
    const length = Math.sqrt(squares) || 1;
    for (let row = 0; row < rows; row += 1) basis[row * DIMENSIONS + column] = at(row, column) / length;
  }
}
