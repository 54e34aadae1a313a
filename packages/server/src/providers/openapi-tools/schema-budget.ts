/** Limits the size of the schemas of an import: references can multiply a small document. */

import { type Json, objectOf, OpenApiFault } from "./local-references.ts";

/** Limit of the schemas of one operation after all references were resolved. */
const MAX_SCHEMA_NODES = 5_000;
/**
 * Limit of one schema: a model reads each of them in every turn. Those of real documents have a few hundred characters.
 */
const MAX_PARAMETER_CHARACTERS = 65_536;
/** Limit of an import: 200 operations with 20 KiB each. All of it is in memory, and then in one transaction. */
const MAX_IMPORT_CHARACTERS = 4 * 1024 * 1024;
/** Limit of nesting of values such as defaults, because the JSON writer is recursive. */
const MAX_VALUE_DEPTH = 32;
/** Approximate size of a number, a bracket or a comma. */
const SMALL_VALUE = 2;

export interface SchemaBudget {
  /** Characters left for the operation that is being read. */
  schemasLeft: number;
  /** Characters left for the whole import. */
  charactersLeft: number;
}

export function importBudget(): SchemaBudget {
  return { schemasLeft: MAX_SCHEMA_NODES, charactersLeft: MAX_IMPORT_CHARACTERS };
}

export function beginOperation(budget: SchemaBudget): void {
  budget.schemasLeft = MAX_SCHEMA_NODES;
}

export function isSpent(budget: SchemaBudget): boolean {
  return budget.charactersLeft < 0;
}

export function takeSchema(budget: SchemaBudget, place: string): void {
  budget.schemasLeft -= 1;
  if (budget.schemasLeft < 0) throw new OpenApiFault(place, `needs more than ${MAX_SCHEMA_NODES} schemas`);
  takeCharacters(budget, SMALL_VALUE, place);
}

export function takeCharacters(budget: SchemaBudget, count: number, place: string): void {
  budget.charactersLeft -= count;
  if (isSpent(budget)) {
    throw new OpenApiFault(
      place,
      `makes the schemas of all operations longer than ${MAX_IMPORT_CHARACTERS} characters`,
    );
  }
}

/** Copies a value that is not a schema. YAML can produce one that contains itself. */
export function takeValue(
  budget: SchemaBudget,
  value: unknown,
  place: string,
  around: readonly unknown[] = [],
): void {
  takeCharacters(budget, SMALL_VALUE + (typeof value === "string" ? value.length : 0), place);
  if (typeof value !== "object" || value === null) return;
  if (around.includes(value)) throw new OpenApiFault(place, "has a value that contains itself");
  if (around.length >= MAX_VALUE_DEPTH) {
    throw new OpenApiFault(place, `has a value with more than ${MAX_VALUE_DEPTH} levels`);
  }
  const inside = [...around, value];
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) takeValue(budget, item, place, inside);
    return;
  }
  for (const [key, item] of Object.entries(objectOf(value) ?? {})) {
    takeCharacters(budget, key.length, place);
    takeValue(budget, item, place, inside);
  }
}

/** The schema of one parameter, as it will be shown. It must already be counted in the budget. */
export function checkParameterSize(schema: Json, place: string): void {
  if (JSON.stringify(schema).length > MAX_PARAMETER_CHARACTERS) {
    throw new OpenApiFault(place, `needs a schema of more than ${MAX_PARAMETER_CHARACTERS} characters`);
  }
}
