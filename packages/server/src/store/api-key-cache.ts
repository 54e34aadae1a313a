import type { AuthenticatedKey } from "./api-keys.ts";

/** How long a key that was just found valid is taken as valid. On another node a revocation acts after this. */
export const API_KEY_CACHE_MS = 1_000;

/** Keys remembered at a time: bounds memory; 1,000 keys in use within one second are more than a node serves. */
const API_KEY_CACHE_LIMIT = 1_000;

export interface FoundKey extends AuthenticatedKey {
  /** Ms since 1970; infinite for a key that does not expire. */
  readonly expiresAtMs: number;
}

interface Entry {
  readonly found: Promise<FoundKey | null>;
  readonly untilMs: number;
}

/** Remembers valid keys by hash for a moment, and joins look-ups of one key that run at the same time. */
export class ApiKeyCache {
  #entries = new Map<string, Entry>();

  async find(hash: string, look: () => Promise<FoundKey | null>): Promise<AuthenticatedKey | null> {
    const nowMs = Date.now();
    const present = this.#entries.get(hash);
    const entry = present !== undefined && present.untilMs > nowMs ? present : this.#look(hash, look, nowMs);
    const found = await entry.found;
    if (found === null || found.expiresAtMs <= Date.now()) return null;
    return { accountId: found.accountId, prefix: found.prefix };
  }

  /** Forgets everything, also what is being looked up. */
  clear(): void {
    this.#entries = new Map();
  }

  #look(hash: string, look: () => Promise<FoundKey | null>, nowMs: number): Entry {
    const entries = this.#entries;
    const entry: Entry = { found: look(), untilMs: nowMs + API_KEY_CACHE_MS };
    entries.delete(hash);
    entries.set(hash, entry);
    const oldest = entries.keys().next();
    if (entries.size > API_KEY_CACHE_LIMIT && oldest.done !== true) entries.delete(oldest.value);
    const forget = (): void => {
      if (entries.get(hash) === entry) entries.delete(hash);
    };
    // Keys that do not work are not remembered: they would push out those that do.
    entry.found.then((found) => (found === null ? forget() : undefined), forget);
    return entry;
  }
}
