/** What `work` gives; null where it takes longer than `limitMs`. Rejects with what `work` fails with until then. */
export async function inTime<Result>(work: Promise<Result>, limitMs: number): Promise<Result | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), limitMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
