/** Resolves the references of the schemas that a tool shows. */

import { type Json, listOf, objectOf, resolve } from "./local-references.ts";
import { type SchemaBudget, takeCharacters, takeSchema, takeValue } from "./schema-budget.ts";

/** Limit of nesting of the schemas that a model sees; deeper parts allow anything. */
const MAX_SCHEMA_DEPTH = 12;
/** Keywords that a model does not need, or that have another meaning outside of OpenAPI. */
const DROPPED = new Set([
  "example",
  "examples",
  "xml",
  "externalDocs",
  "discriminator",
  "deprecated",
  "nullable",
]);

/** The schema without references, as JSON Schema. Where it contains itself, or is too deep, anything is allowed. */
export function wholeSchema(document: Json, schema: unknown, place: string, budget: SchemaBudget): Json {
  return inline(document, schema, place, budget, []);
}

const MAPS = new Set(["properties", "patternProperties"]);
const SINGLE = new Set(["items", "additionalProperties", "not"]);
const LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);

function inline(
  document: Json,
  value: unknown,
  place: string,
  budget: SchemaBudget,
  around: readonly Json[],
): Json {
  const schema = resolve(document, value, place);
  takeSchema(budget, place);
  if (schema === null || around.includes(schema) || around.length >= MAX_SCHEMA_DEPTH) return {};
  const inside = [...around, schema];
  const part = (item: unknown): unknown => {
    if (typeof item !== "boolean") return inline(document, item, place, budget, inside);
    takeCharacters(budget, String(item).length, place);
    return item;
  };
  const entries = Object.entries(schema).flatMap(([key, item]): [string, unknown][] => {
    takeCharacters(budget, key.length, place);
    if (DROPPED.has(key) || key.startsWith("x-")) return [];
    if (MAPS.has(key)) {
      const members = Object.entries(objectOf(item) ?? {}).map(([name, each]): [string, unknown] => {
        takeCharacters(budget, name.length, place);
        return [name, part(each)];
      });
      return [[key, Object.fromEntries(members)]];
    }
    if (SINGLE.has(key)) return [[key, part(item)]];
    if (LISTS.has(key)) return [[key, listOf(item).map(part)]];
    takeValue(budget, item, place);
    return [[key, item]];
  });
  return fromVersion30(Object.fromEntries(entries), schema["nullable"] === true);
}

/** OpenAPI 3.0 has its own keywords for null and for exclusive bounds. */
function fromVersion30(schema: Json, nullable: boolean): Json {
  const { exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  const changed: Record<string, unknown> = { ...rest };
  for (const [open, name, bound] of [
    [exclusiveMinimum, "exclusiveMinimum", "minimum"],
    [exclusiveMaximum, "exclusiveMaximum", "maximum"],
  ] as const) {
    if (open === true && changed[bound] !== undefined) {
      changed[name] = changed[bound];
      delete changed[bound];
    } else if (typeof open === "number") changed[name] = open;
  }
  if (nullable && typeof changed["type"] === "string") changed["type"] = [changed["type"], "null"];
  return changed;
}
