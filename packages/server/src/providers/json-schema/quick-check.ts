/**
 * Says at once that a schema is usable, or that values satisfy it, where that takes few steps: the main thread does
 * nothing else. What it does not say may still be so; a thread finds out.
 *
 * Bounded by construction: schemas are trees of keywords that look at one place of the value, patterns match in linear
 * time, and the steps of all of it are counted.
 */

import { compileLinearPattern, type LinearPattern } from "@parley/schema/values/linear-pattern";
import { PatternError } from "@parley/schema/values/pattern-syntax";
import type { JsonSchema } from "./json-schema.ts";
import { DIALECTS, MAX_PATTERN_CHARS } from "./schema-limits.ts";

/** Limit of one check: some 2 ms at 10 to 100 ns a step. A form with 20 fields needs some 200. */
const MAX_STEPS = 20_000;

/** Steps are counted down; at 0 nothing more is said. */
class Steps {
  #left = MAX_STEPS;

  /** Whether so many are left. */
  take(count: number): boolean {
    this.#left -= count;
    return this.#left >= 0;
  }
}

/** The entries of an object, counted; null when there are more than steps. */
function entriesOf(value: JsonSchema, steps: Steps): [string, unknown][] | null {
  const entries: [string, unknown][] = [];
  // `Object.entries` takes 20 ms for the 50,000 members that a body may have.
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    if (!steps.take(1)) return null;
    entries.push([name, value[name]]);
  }
  return steps.take(1) ? entries : null;
}

type Content = (content: unknown, steps: Steps) => boolean;

/** Whether the schema has only keywords that are known here, each with a usable content. */
export function isQuicklyUsable(schema: JsonSchema): boolean {
  return isUsable(schema, new Steps());
}

/** Whether all values satisfy a schema. Also false for schemas that are not quickly usable. */
export function isQuicklyGood(schema: JsonSchema, values: readonly unknown[]): boolean {
  const steps = new Steps();
  return values.every((value) => isGood(schema, value, steps));
}

/** Not a number where the content is something else: then no comparison holds. */
function numberIn(content: unknown): number {
  return typeof content === "number" ? content : Number.NaN;
}

const TYPES = new Set<unknown>(["array", "boolean", "integer", "null", "number", "object", "string"]);
/** Limit of values that are compared one by one. */
const MAX_ENUM = 100;

const isText: Content = (content) => typeof content === "string";
const isFlag: Content = (content) => typeof content === "boolean";
const isNumber: Content = (content) => Number.isFinite(content);
const isCount: Content = (content) => Number.isSafeInteger(content) && numberIn(content) >= 0;
const isAnything: Content = () => true;
const isScalar: Content = (content) => content === null || typeof content !== "object";
const isSchema: Content = (content, steps) => isUsable(content, steps);

/** Keywords that are known here, and what they may contain. */
const KEYWORDS: ReadonlyMap<string, Content> = new Map<string, Content>([
  ["$comment", isText],
  ["$schema", (content) => typeof content === "string" && DIALECTS.has(content)],
  ["additionalProperties", isSchema],
  [
    "anyOf",
    (content, steps) =>
      Array.isArray(content) && content.length > 0 && content.every((part) => isUsable(part, steps)),
  ],
  ["const", isScalar],
  ["default", isAnything],
  ["deprecated", isFlag],
  ["description", isText],
  [
    "enum",
    (content) =>
      Array.isArray(content) && content.length > 0 && content.length <= MAX_ENUM && areUniqueScalars(content),
  ],
  ["examples", (content) => Array.isArray(content)],
  ["exclusiveMaximum", isNumber],
  ["exclusiveMinimum", isNumber],
  // A remark: formats are not checked.
  ["format", isText],
  ["items", isSchema],
  ["maxItems", isCount],
  ["maxLength", isCount],
  ["maxProperties", isCount],
  ["maximum", isNumber],
  ["minItems", isCount],
  ["minLength", isCount],
  ["minProperties", isCount],
  ["minimum", isNumber],
  ["multipleOf", (content) => Number.isFinite(content) && numberIn(content) > 0],
  ["pattern", (content, steps) => patternOf(content, steps) !== null],
  [
    "properties",
    (content, steps) =>
      isObject(content) && entriesOf(content, steps)?.every(([, part]) => isUsable(part, steps)) === true,
  ],
  ["readOnly", isFlag],
  [
    "required",
    (content) =>
      Array.isArray(content) &&
      content.every((name) => typeof name === "string") &&
      areUniqueScalars(content),
  ],
  ["title", isText],
  [
    "type",
    (content) =>
      TYPES.has(content) ||
      (Array.isArray(content) &&
        content.length > 0 &&
        content.every((type) => TYPES.has(type)) &&
        areUniqueScalars(content)),
  ],
  ["writeOnly", isFlag],
]);

function isUsable(schema: unknown, steps: Steps): boolean {
  if (typeof schema === "boolean") return true;
  if (!isObject(schema)) return false;
  const entries = entriesOf(schema, steps);
  return entries?.every(([keyword, content]) => KEYWORDS.get(keyword)?.(content, steps) === true) === true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function areUniqueScalars(list: readonly unknown[]): boolean {
  return (
    list.every((item) => item === null || typeof item !== "object") && new Set(list).size === list.length
  );
}

/** Null: it needs backtracking, or too many steps. Its compilation takes a few steps for each state. */
function patternOf(content: unknown, steps: Steps): LinearPattern | null {
  if (typeof content !== "string" || content.length > MAX_PATTERN_CHARS) return null;
  if (!steps.take(2 * content.length)) return null;
  try {
    const pattern = compileLinearPattern(content, "unicode");
    return steps.take(2 * pattern.steps) ? pattern : null;
  } catch (error) {
    if (error instanceof PatternError) return null;
    throw error;
  }
}

function isGood(schema: unknown, value: unknown, steps: Steps): boolean {
  if (typeof schema === "boolean") return schema;
  if (!isObject(schema)) return false;
  const entries = entriesOf(schema, steps);
  return entries?.every(([keyword, content]) => holds(keyword, content, schema, value, steps)) === true;
}

/** Keywords that say nothing about a value. */
const REMARKS = new Set([
  "$comment",
  "$schema",
  "default",
  "deprecated",
  "description",
  "examples",
  "format",
  "readOnly",
  "title",
  "writeOnly",
]);

function holds(keyword: string, content: unknown, schema: JsonSchema, value: unknown, steps: Steps): boolean {
  if (REMARKS.has(keyword)) return true;
  switch (keyword) {
    case "type":
      return (Array.isArray(content) ? content : [content]).some((type) => isOfType(type, value));
    case "const":
      return isScalar(content, steps) && value === content;
    case "enum":
      return (
        Array.isArray(content) &&
        steps.take(content.length) &&
        isScalar(value, steps) &&
        content.includes(value)
      );
    case "anyOf":
      return Array.isArray(content) && content.some((part) => isGood(part, value, steps));
  }
  if (typeof value === "string") return textHolds(keyword, content, value, steps);
  if (typeof value === "number") return numberHolds(keyword, content, value);
  if (Array.isArray(value)) return listHolds(keyword, content, value, steps);
  if (isObject(value)) return objectHolds(keyword, content, schema, value, steps);
  // Of null and of the two truth values only the type can be wrong.
  return KEYWORDS.has(keyword);
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case "array":
      return Array.isArray(value);
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    case "number":
      return Number.isFinite(value);
    case "object":
      return isObject(value);
    default:
      return type === "string" && typeof value === "string";
  }
}

/** Characters of a text that are counted in one step. */
const CHARACTERS_PER_STEP = 10;

function textHolds(keyword: string, content: unknown, value: string, steps: Steps): boolean {
  switch (keyword) {
    case "maxLength":
    case "minLength": {
      if (!steps.take(value.length / CHARACTERS_PER_STEP)) return false;
      const length = Array.from(value).length;
      return keyword === "maxLength" ? length <= numberIn(content) : length >= numberIn(content);
    }
    case "pattern": {
      const pattern = patternOf(content, steps);
      return pattern !== null && steps.take(pattern.steps * value.length) && pattern.isIn(value);
    }
    default:
      return KEYWORDS.has(keyword);
  }
}

function numberHolds(keyword: string, content: unknown, value: number): boolean {
  // Such as 1e400.
  if (!Number.isFinite(value)) return false;
  const bound = numberIn(content);
  switch (keyword) {
    case "exclusiveMaximum":
      return value < bound;
    case "exclusiveMinimum":
      return value > bound;
    case "maximum":
      return value <= bound;
    case "minimum":
      return value >= bound;
    case "multipleOf":
      return Number.isSafeInteger(value / bound);
    default:
      return KEYWORDS.has(keyword);
  }
}

function listHolds(keyword: string, content: unknown, value: readonly unknown[], steps: Steps): boolean {
  switch (keyword) {
    case "items":
      return steps.take(value.length) && value.every((item) => isGood(content, item, steps));
    case "maxItems":
      return value.length <= numberIn(content);
    case "minItems":
      return value.length >= numberIn(content);
    default:
      return KEYWORDS.has(keyword);
  }
}

function objectHolds(
  keyword: string,
  content: unknown,
  schema: JsonSchema,
  value: JsonSchema,
  steps: Steps,
): boolean {
  switch (keyword) {
    case "properties":
      return (
        isObject(content) &&
        entriesOf(content, steps)?.every(
          ([name, part]) => !Object.hasOwn(value, name) || isGood(part, value[name], steps),
        ) === true
      );
    case "required":
      return (
        Array.isArray(content) &&
        steps.take(content.length) &&
        content.every((name: unknown) => typeof name === "string" && Object.hasOwn(value, name))
      );
    case "additionalProperties": {
      const known = isObject(schema["properties"]) ? schema["properties"] : {};
      return (
        entriesOf(value, steps)?.every(
          ([name, item]) => Object.hasOwn(known, name) || isGood(content, item, steps),
        ) === true
      );
    }
    case "maxProperties":
    case "minProperties": {
      const count = entriesOf(value, steps)?.length ?? null;
      if (count === null) return false;
      return keyword === "maxProperties" ? count <= numberIn(content) : count >= numberIn(content);
    }
    default:
      return KEYWORDS.has(keyword);
  }
}
