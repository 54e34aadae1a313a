/** How many searches run at a time, and how many an account may ask for. */

import { BusyError } from "../pacing/busy.ts";
import { openKeyedSemaphore, RefusedError } from "../pacing/semaphore.ts";

/**
 * Parts of searches in the database at a time, some 10 ms each: the records of live calls need it as well. What waits for
 * a server of embeddings or a reranker has no place here.
 */
const DATABASE_AT_ONCE = 4;
const DATABASE_AT_ONCE_OF_ACCOUNT = 2;
/** Searches at a time: most of them wait for a model. */
const SEARCHES = 64;
const SEARCHES_OF_ACCOUNT = 16;
/** Searches that wait for a place. */
const MAX_WAITING = 256;
const MAX_WAITING_OF_ACCOUNT = 32;
/** Whoever is refused tries again after this time. */
const RETRY_AFTER_MS = 1_000;
/** Accounts whose searches are counted; bounds memory. */
const MAX_ACCOUNTS = 10_000;
const MINUTE_MS = 60_000;

export interface QueryLimits {
  /** A whole search. @throws BusyError */
  run<Result>(accountId: string, work: () => Promise<Result>): Promise<Result>;
  /** The parts of a search that use the database. Those of other accounts come first where an account has more. */
  inDatabase<Result>(accountId: string, work: () => Promise<Result>): Promise<Result>;
}

/** A bucket of tokens for each account, which holds those of a minute. `perMinute` 0: no limit. */
export function openQueryLimits(perMinute: number, nowMs: () => number): QueryLimits {
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  const searches = openKeyedSemaphore({
    permits: SEARCHES,
    permitsPerKey: SEARCHES_OF_ACCOUNT,
    limit: {
      most: MAX_WAITING,
      mostPerKey: MAX_WAITING_OF_ACCOUNT,
      refusal: "Too many searches are waiting.",
    },
  });
  // Bounded by the searches, each of which has two parts at a time here.
  const database = openKeyedSemaphore({
    permits: DATABASE_AT_ONCE,
    permitsPerKey: DATABASE_AT_ONCE_OF_ACCOUNT,
  });
  const take = (accountId: string): void => {
    if (perMinute === 0) return;
    const now = nowMs();
    const known = buckets.get(accountId) ?? { tokens: perMinute, atMs: now };
    const gained = (Math.max(0, now - known.atMs) / MINUTE_MS) * perMinute;
    const tokens = Math.min(perMinute, known.tokens + gained);
    buckets.delete(accountId);
    buckets.set(accountId, { tokens: tokens < 1 ? tokens : tokens - 1, atMs: now });
    const oldest = buckets.keys().next();
    if (buckets.size > MAX_ACCOUNTS && oldest.done !== true) buckets.delete(oldest.value);
    if (tokens >= 1) return;
    const waitMs = Math.ceil(((1 - tokens) * MINUTE_MS) / perMinute);
    throw new BusyError(
      `The account may search its corpora ${String(perMinute)} times a minute (CORPUS_QUERIES_PER_MINUTE).`,
      waitMs,
    );
  };
  return {
    run: async (accountId, work) => {
      take(accountId);
      try {
        return await searches(accountId, work);
      } catch (error) {
        if (error instanceof RefusedError) throw new BusyError(error.message, RETRY_AFTER_MS);
        throw error;
      }
    },
    inDatabase: database,
  };
}
