/** Shares with their uncertainty, and quantiles. */

/** Normal quantile of a two-sided interval of 95 %. */
const Z = 1.96;

/** Wilson's interval of a share: also right for 0 of n, and for few cases. */
export function wilson(hits: number, cases: number): readonly [low: number, high: number] {
  if (cases === 0) return [0, 1];
  const share = hits / cases;
  const z2 = Z * Z;
  const middle = share + z2 / (2 * cases);
  const half = Z * Math.sqrt((share * (1 - share)) / cases + z2 / (4 * cases * cases));
  const whole = 1 + z2 / cases;
  return [Math.max(0, (middle - half) / whole), Math.min(1, (middle + half) / whole)];
}

/** "3 of 40: 7.5 % (2.6–20)". */
export function shareText(hits: number, cases: number): string {
  if (cases === 0) return "–";
  const [low, high] = wilson(hits, cases);
  return `${String(hits)} of ${String(cases)}: ${percent(hits / cases)} % (${percent(low)}–${percent(high)})`;
}

function percent(share: number): string {
  const value = 100 * share;
  return value >= 10 || value === 0 ? value.toFixed(0) : value.toFixed(1);
}

/** The smallest value that `share` of the values do not exceed; null of nothing. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

export function quantilesText(values: readonly number[]): string {
  const [half, most] = [quantile(values, 0.5), quantile(values, 0.95)];
  if (half === null || most === null) return "–";
  return `${String(Math.round(half))} / ${String(Math.round(most))} ms (${String(values.length)})`;
}
