/** The cache of valid API keys, one for each open database. */

import type { Scopes } from "@parley/schema";

export interface AuthenticatedKey {
  readonly accountId: string;
  readonly prefix: string;
  readonly name: string;
  readonly scopes: Scopes;
}

/** How long a valid key is cached. On other nodes a revocation takes effect after this time. */
export const API_KEY_CACHE_MS = 1_000;

/** Cached keys; bounds memory. A node does not serve 1,000 keys within one second. */
const API_KEY_CACHE_LIMIT = 1_000;

export interface FoundKey extends AuthenticatedKey {
  /** From the look-up until the key expires; infinite for a key that does not. */
  readonly leftMs: number;
}

interface Entry {
  readonly found: Promise<FoundKey | null>;
  /** Of the look-up, on the monotonic clock: the wall clock of a node may be wrong. */
  readonly atMs: number;
}

/** Caches valid keys by hash, and coalesces concurrent look-ups of one key. */
export class ApiKeyCache {
  #entries = new Map<string, Entry>();

  async find(hash: string, look: () => Promise<FoundKey | null>): Promise<AuthenticatedKey | null> {
    const nowMs = performance.now();
    const present = this.#entries.get(hash);
    const entry =
      present !== undefined && present.atMs + API_KEY_CACHE_MS > nowMs
        ? present
        : this.#look(hash, look, nowMs);
    const found = await entry.found;
    if (found === null || entry.atMs + found.leftMs <= performance.now()) return null;
    return {
      accountId: found.accountId,
      prefix: found.prefix,
      name: found.name,
      scopes: found.scopes,
    };
  }

  /** Clears the cache, also of look-ups that are under way. */
  clear(): void {
    this.#entries = new Map();
  }

  #look(hash: string, look: () => Promise<FoundKey | null>, nowMs: number): Entry {
    const entries = this.#entries;
    const entry: Entry = { found: look(), atMs: nowMs };
    entries.delete(hash);
    entries.set(hash, entry);
    const oldest = entries.keys().next();
    if (entries.size > API_KEY_CACHE_LIMIT && oldest.done !== true) entries.delete(oldest.value);
    const forget = (): void => {
      if (entries.get(hash) === entry) entries.delete(hash);
    };
    // Invalid keys are not cached: they would evict valid ones.
    entry.found.then((found) => (found === null ? forget() : undefined), forget);
    return entry;
  }
}
