/** What keeps one account, however much it has to do, from taking all places of a dispatcher. */

/** Of so many places: a quarter is always left to the others. */
export function mostOfAccount(places: number): number {
  return (places / 4) * 3;
}

/** Counts places that are taken; who has none left is forgotten. */
export function changeCount(counts: Map<string, number>, key: string, change: number): void {
  const left = (counts.get(key) ?? 0) + change;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}
