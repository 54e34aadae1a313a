/** Schemas whose check takes time in proportion to the value, so that it needs no timeout. */

/** Keywords that look at one place of the value, once. */
const PLAIN_KEYWORDS = new Set([
  "$schema",
  "const",
  "default",
  "description",
  "examples",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "maximum",
  "maxItems",
  "maxLength",
  "maxProperties",
  "minimum",
  "minItems",
  "minLength",
  "minProperties",
  "multipleOf",
  "required",
  "title",
  "type",
]);

/** Limit of values that are compared one by one. */
const MAX_ENUM = 100;

/** `schema` has passed the meta-schema, and is as deep as `limitFaults` allows. */
export function isPlainSchema(schema: unknown): boolean {
  if (typeof schema === "boolean") return true;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return false;
  return Object.entries(schema).every(([keyword, value]: [string, unknown]) => {
    if (PLAIN_KEYWORDS.has(keyword)) return keyword !== "const" || isScalar(value);
    if (keyword === "enum") return Array.isArray(value) && value.length <= MAX_ENUM && value.every(isScalar);
    if (keyword === "items" || keyword === "additionalProperties") return isPlainSchema(value);
    if (keyword !== "properties" || typeof value !== "object" || value === null) return false;
    return Object.values(value).every(isPlainSchema);
  });
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== "object";
}
