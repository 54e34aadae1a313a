/** Limits the share of one account in the places of a dispatcher. */

/** The most places of one account: a quarter is always left to the others. */
export function mostOfAccount(places: number): number {
  return (places / 4) * 3;
}

/** Counts the places in use; a key with none is removed. */
export function changeCount(counts: Map<string, number>, key: string, change: number): void {
  const left = (counts.get(key) ?? 0) + change;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}
