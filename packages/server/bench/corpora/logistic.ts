/** Logistic regression by Newton's method, for a handful of numbers. */

export interface Example {
  /** The first one is 1. */
  readonly features: readonly number[];
  readonly isRelevant: boolean;
}

const ROUNDS = 25;
/** Keeps the numbers finite where the examples can be told apart without a fault. */
const RIDGE = 1e-2;

export function fitLogistic(examples: readonly Example[]): readonly number[] {
  const size = examples[0]?.features.length ?? 0;
  let weights = Array.from({ length: size }, () => 0);
  for (let round = 0; round < ROUNDS; round += 1) {
    const gradient = weights.map((weight) => -RIDGE * weight);
    const matrix: number[][] = weights.map((_, row) =>
      weights.map((__, column) => (row === column ? RIDGE : 0)),
    );
    for (const { features, isRelevant } of examples) {
      const likely = likelihood(weights, features);
      const spread = likely * (1 - likely);
      for (const [row, feature] of features.entries()) {
        gradient[row] = (gradient[row] ?? 0) + ((isRelevant ? 1 : 0) - likely) * feature;
        for (const [column, other] of features.entries()) {
          const line = matrix[row];
          if (line !== undefined) line[column] = (line[column] ?? 0) + spread * feature * other;
        }
      }
    }
    const step = solve(matrix, gradient);
    weights = weights.map((weight, index) => weight + (step[index] ?? 0));
  }
  return weights;
}

function likelihood(weights: readonly number[], features: readonly number[]): number {
  return (
    1 / (1 + Math.exp(-weights.reduce((sum, weight, index) => sum + weight * (features[index] ?? 0), 0)))
  );
}

/** Gauss and Jordan, with pivots. */
function solve(matrix: readonly (readonly number[])[], values: readonly number[]): readonly number[] {
  const rows = matrix.map((line, index) => [...line, values[index] ?? 0]);
  for (let column = 0; column < rows.length; column += 1) {
    const below = rows.slice(column).toSorted((a, b) => Math.abs(b[column] ?? 0) - Math.abs(a[column] ?? 0));
    rows.splice(column, below.length, ...below);
    const pivot = rows[column];
    if (pivot === undefined) break;
    const first = pivot[column] ?? 1;
    for (const [place, number] of pivot.entries()) pivot[place] = number / first;
    for (const line of rows) {
      const factor = line === pivot ? 0 : (line[column] ?? 0);
      for (const [place, number] of pivot.entries()) line[place] = (line[place] ?? 0) - factor * number;
    }
  }
  return rows.map((line) => line.at(-1) ?? 0);
}
