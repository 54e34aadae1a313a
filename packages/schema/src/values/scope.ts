/** Scopes of API keys (D15): what a key may do. Every route states the scope that it needs. */

import { z } from "zod";

/** From the least to the most: each includes those before it. */
export const SCOPES = ["read", "calls", "admin"] as const;

export const Scope = z.enum(SCOPES);
export type Scope = z.output<typeof Scope>;

/** The scopes of a key; null: it was created without scopes and may do everything. */
export type Scopes = readonly Scope[] | null;

/** Whether a key with these scopes may do what needs `needed`. */
export function allows(scopes: Scopes, needed: Scope): boolean {
  const least = SCOPES.indexOf(needed);
  return scopes === null || scopes.some((scope) => SCOPES.indexOf(scope) >= least);
}

/** Whether a key with these scopes may do everything that a key with `others` may do. */
export function allowsAllOf(scopes: Scopes, others: Scopes): boolean {
  return (others ?? ["admin"]).every((other) => allows(scopes, other));
}
