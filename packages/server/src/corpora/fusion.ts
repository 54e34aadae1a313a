/**
 * Joins the results of full text and of vectors: by reciprocal ranks (Cormack, Clarke and Büttcher, "Reciprocal Rank
 * Fusion outperforms Condorcet and individual Rank Learning Methods", 2009), which needs no common scale. Pure.
 */

/** Of the paper: how much the first places count more than those after them. */
export const RANK_CONSTANT = 60;

export interface Fused {
  readonly chunkId: number;
  readonly textRank: number | null;
  readonly vectorRank: number | null;
  /** Sum of the reciprocal ranks; comparable within one search only. */
  readonly weight: number;
}

/** Best first. Both lists are best first, without repetitions. */
export function fuse(byText: readonly number[], byVector: readonly number[]): readonly Fused[] {
  const textRanks = ranksOf(byText);
  const vectorRanks = ranksOf(byVector);
  const all = [...new Set([...byText, ...byVector])].map((chunkId) => {
    const textRank = textRanks.get(chunkId) ?? null;
    const vectorRank = vectorRanks.get(chunkId) ?? null;
    return { chunkId, textRank, vectorRank, weight: shareOf(textRank) + shareOf(vectorRank) };
  });
  return all.toSorted((a, b) => b.weight - a.weight || firstRank(a) - firstRank(b) || a.chunkId - b.chunkId);
}

function ranksOf(list: readonly number[]): ReadonlyMap<number, number> {
  return new Map(list.map((chunkId, place) => [chunkId, place + 1]));
}

function shareOf(rank: number | null): number {
  return rank === null ? 0 : 1 / (RANK_CONSTANT + rank);
}

function firstRank({ textRank, vectorRank }: Fused): number {
  return Math.min(textRank ?? Infinity, vectorRank ?? Infinity);
}

/**
 * Scores that never rise from one hit to the next: the nearest such list by the sum of squares (pool adjacent violators;
 * Barlow and others, "Statistical Inference under Order Restrictions", 1972).
 */
export function fallingScores(scores: readonly number[]): readonly number[] {
  const blocks: { sum: number; count: number }[] = [];
  for (const score of scores) {
    blocks.push({ sum: score, count: 1 });
    for (let last = blocks.at(-1), before = blocks.at(-2); last !== undefined && before !== undefined;) {
      if (before.sum / before.count >= last.sum / last.count) break;
      blocks.splice(-2, 2, { sum: before.sum + last.sum, count: before.count + last.count });
      last = blocks.at(-1);
      before = blocks.at(-2);
    }
  }
  return blocks.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count));
}
