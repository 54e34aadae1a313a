/** Authenticates API keys: gives the account of a key, limits request rates, and checks scopes. */

import { createHash } from "node:crypto";
import { allows, ApiError, missingScope, type Route } from "@parley/schema";
import { authenticateKey } from "../../store/accounts/api-keys.ts";
import type { AuthenticatedKey } from "../../store/database/api-key-cache.ts";
import type { Db } from "../../store/database/db.ts";
import { clientOf, rateLimit, rateLimited } from "./rate-limit.ts";

/** Failed attempts per second and client address. */
export const FAILED_AUTHENTICATIONS_PER_SECOND = 20;
/** How long a key that worked may still be tried from an address with too many failures. */
const KNOWN_KEY_MS = 60_000;
/** Limit of such keys in memory; about 100 KB. */
const MAX_KNOWN_KEYS = 1000;

export interface AuthenticationOptions {
  readonly db: Db;
  readonly rateLimitPerKey: number;
  readonly rateLimitPerAccount: number;
  /** This node's share of both rates, from 0 to 1. */
  readonly share: () => number;
  readonly nowMs: () => number;
}

export interface PresentedKey {
  /** Values of the headers `X-API-Key` and `X-Unsafe-API-Key`. */
  readonly apiKey: string | string[] | undefined;
  readonly unsafeApiKey: string | string[] | undefined;
  readonly clientAddress: string;
}

/** Throws ApiError: 401 for every key that does not work, with the same answer for every reason, and 429. */
export type Authenticate = (presented: PresentedKey) => Promise<AuthenticatedKey>;

export function authentication(options: AuthenticationOptions): Authenticate {
  const { share } = options;
  const perKey = rateLimit(options.rateLimitPerKey, { share });
  const perAccount = rateLimit(options.rateLimitPerAccount, { share });
  const failures = rateLimit(FAILED_AUTHENTICATIONS_PER_SECOND);
  const knownKeys = recentKeys();

  return async ({ apiKey, unsafeApiKey, clientAddress }) => {
    const atMs = options.nowMs();
    const client = clientOf(clientAddress);
    const given = apiKey ?? unsafeApiKey;
    const key = typeof given === "string" ? given : "";
    // Refused before the look-up, so that a flood of guesses costs the database nothing. Keys that worked lately are
    // accepted, because many clients may share one address.
    const waitMs = failures.peek(client, atMs);
    if (waitMs > 0 && !knownKeys.has(key, atMs)) throw rateLimited("Too many failed authentications", waitMs);
    const found = await authenticateKey(options.db, key);
    if (found === null) {
      failures.take(client, atMs);
      throw new ApiError("unauthenticated", "Send a valid API key in the X-API-Key header.");
    }
    knownKeys.add(key, atMs);
    const keyWaitMs = perKey.take(found.prefix, atMs);
    if (keyWaitMs > 0) throw rateLimited("This API key has reached its request rate", keyWaitMs);
    const accountWaitMs = perAccount.take(found.accountId, atMs);
    if (accountWaitMs > 0) throw rateLimited("This account has reached its request rate", accountWaitMs);
    return found;
  };
}

/** Throws ApiError (403, `missing_scope`) unless the key's scopes allow the route. */
export function requireScope({ scope }: Pick<Route, "scope">, { scopes }: AuthenticatedKey): void {
  if (scope !== null && !allows(scopes, scope)) throw missingScope(scopes, scope);
}

interface RecentKeys {
  readonly has: (key: string, atMs: number) => boolean;
  readonly add: (key: string, atMs: number) => void;
}

/** Keys are stored by their hash, so that no key stays in memory in readable form. */
function recentKeys(): RecentKeys {
  const seenAtMs = new Map<string, number>();
  const hashOf = (key: string): string => createHash("sha256").update(key).digest("base64");
  return {
    has: (key, atMs) => {
      const seen = seenAtMs.get(hashOf(key));
      return seen !== undefined && atMs - seen < KNOWN_KEY_MS;
    },
    add: (key, atMs) => {
      const hash = hashOf(key);
      seenAtMs.delete(hash);
      seenAtMs.set(hash, atMs);
      const oldest = seenAtMs.keys().next();
      if (seenAtMs.size > MAX_KNOWN_KEYS && oldest.done !== true) seenAtMs.delete(oldest.value);
    },
  };
}
