/** Means with the interval in which they lie with a probability of 95 %, by drawing the groups again (bootstrap). */

import { seeded } from "../../src/media/testing/seeded.ts";

/** With more the bounds no longer change in the second decimal place. */
const DRAWS = 2_000;

/**
 * Each group has values that depend on each other, such as those of two questions about one section: groups are drawn,
 * not values. Seeded, so that the same values have the same interval.
 */
export function meanWithInterval(groups: readonly (readonly number[])[]): string {
  const random = seeded(1);
  const means = Array.from({ length: DRAWS }, () => {
    const drawn = groups.map(() => groups[Math.floor(random() * groups.length)] ?? []);
    return mean(drawn.flat());
  }).toSorted((one, other) => one - other);
  const at = (share: number): string => (means[Math.floor(share * (DRAWS - 1))] ?? 0).toFixed(2);
  return `${mean(groups.flat()).toFixed(3)} (${at(0.025)} to ${at(0.975)})`;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
