/** Suggests the field that was probably meant by an unknown one. */

import type { z } from "zod";
import { toCamelCase, toNeutralName } from "../names/names.ts";
import { viewOf } from "./walk.ts";

/** Names that differ by more single-letter changes than this share of their length are not similar. */
const NEAR_SHARE = 0.34;
/** Limits the work per unknown field; the longest field name of the API is far shorter. */
const MAX_NAME_LENGTH = 64;
/** Greatest depth to search; the API nests less deeply. */
const MAX_SEARCH_DEPTH = 6;

/**
 * The most similar known field, for a message: a sibling in another spelling, the path at which a field of this name
 * belongs, or a similar sibling. Null if nothing is similar.
 */
export function suggestField(
  root: z.core.$ZodType,
  siblings: readonly string[],
  key: string,
  path: readonly string[],
): string | null {
  if (key.length > MAX_NAME_LENGTH) return null;
  const name = toNeutralName(toCamelCase(key));
  const sameLetters = siblings.find((sibling) => sibling.toLowerCase() === name.toLowerCase());
  if (sameLetters !== undefined) return [...path, sameLetters].join(".");
  const place = findPlace(root, name);
  if (place !== null) return place;
  const near = nearest(siblings, name);
  return near === null ? null : [...path, near].join(".");
}

/** The shallowest dotted path at which a field of this name exists outside lists. */
function findPlace(root: z.core.$ZodType, name: string): string | null {
  let level: { readonly schema: z.core.$ZodType; readonly path: readonly string[] }[] = [
    { schema: root, path: [] },
  ];
  for (let depth = 0; depth < MAX_SEARCH_DEPTH && level.length > 0; depth += 1) {
    const next: typeof level = [];
    for (const { schema, path } of level) {
      const { structure, marks } = viewOf(schema);
      if (structure.kind !== "object" || marks.freeForm === true) continue;
      for (const [key, field] of structure.fields) {
        if (key.toLowerCase() === name.toLowerCase()) return [...path, key].join(".");
        next.push({ schema: field, path: [...path, key] });
      }
    }
    level = next;
  }
  return null;
}

function nearest(names: readonly string[], wanted: string): string | null {
  let best: string | null = null;
  let bestDistance = Math.floor(wanted.length * NEAR_SHARE) + 1;
  for (const name of names) {
    const distance = editDistance(name.toLowerCase(), wanted.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions, substitutions and swaps of letters between two texts (Damerau 1964). */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] ?? 0) + 1 : change;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
