/** What the API key of this sign-in may do. */

import type { ApiKey, Scope } from "@parley/schema";
import { useRead, useSignedIn } from "./api.tsx";

/** From the least to the most: each includes those before it. */
export const SCOPES = ["read", "calls", "admin"] as const satisfies readonly Scope[];

export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  read: "View everything except the audit log",
  calls: "View, and create calls and batches",
  admin: "Full access",
};

export function allows(scopes: ApiKey["scopes"], needed: Scope): boolean {
  const least = SCOPES.indexOf(needed);
  return scopes === null || scopes.some((scope) => SCOPES.indexOf(scope) >= least);
}

/** The key of this sign-in; null until it is loaded. */
export function useOwnKey(): ApiKey | null {
  const { keyPrefix } = useSignedIn();
  const { data } = useRead("/api/api_keys/{api_key_prefix}", { params: { api_key_prefix: keyPrefix } });
  return data ?? null;
}

/** Whether this sign-in has a scope; true until that is known, because most keys may do everything. */
export function useHasScope(needed: Scope): boolean {
  const key = useOwnKey();
  return key === null || allows(key.scopes, needed);
}
