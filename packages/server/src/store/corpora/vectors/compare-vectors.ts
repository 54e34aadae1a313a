/** Compares a vector with all vectors of a corpus. Pure. */

export interface LoadedVectors {
  readonly chunkIds: Float64Array;
  /** All vectors, one after the other. */
  readonly numbers: Float32Array;
}

export interface Compared {
  readonly near: readonly { readonly chunkId: number; readonly cosine: number }[];
  readonly background: { readonly mean: number; readonly deviation: number; readonly count: number };
}

/** The `limit` nearest of all parts, nearest first, and the mean and deviation of all. All vectors have the length 1. */
export function compareVectors(
  parts: readonly LoadedVectors[],
  vector: Float32Array,
  limit: number,
): Compared {
  const nearest = new Nearest(limit);
  let count = 0;
  let sum = 0;
  let squares = 0;
  for (const { chunkIds, numbers } of parts) {
    for (let place = 0; place < chunkIds.length; place += 1) {
      const cosine = dot(numbers, place * vector.length, vector);
      sum += cosine;
      squares += cosine * cosine;
      count += 1;
      nearest.offer(chunkIds[place] ?? 0, cosine);
    }
  }
  const mean = count === 0 ? 0 : sum / count;
  const variance = count < 2 ? 0 : Math.max(0, (squares - count * mean * mean) / (count - 1));
  return { near: nearest.list(), background: { mean, deviation: Math.sqrt(variance), count } };
}

function dot(numbers: Float32Array, start: number, vector: Float32Array): number {
  let sum = 0;
  for (let place = 0; place < vector.length; place += 1)
    sum += (numbers[start + place] ?? 0) * (vector[place] ?? 0);
  return sum;
}

/** The highest values seen, in order. With at most some hundred places an insertion is as quick as a heap. */
class Nearest {
  readonly #limit: number;
  readonly #kept: { chunkId: number; cosine: number }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  offer(chunkId: number, cosine: number): void {
    const kept = this.#kept;
    const last = kept.at(-1);
    if (kept.length >= this.#limit && last !== undefined && cosine <= last.cosine) return;
    let place = kept.length;
    while (place > 0 && (kept[place - 1]?.cosine ?? 1) < cosine) place -= 1;
    kept.splice(place, 0, { chunkId, cosine });
    if (kept.length > this.#limit) kept.pop();
  }

  list(): readonly { readonly chunkId: number; readonly cosine: number }[] {
    return this.#kept;
  }
}
