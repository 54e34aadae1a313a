/**
 * Limits for a schema of a request before it is compiled: its size, depth and patterns, and no references to other
 * documents. Walks over the document without running any of it.
 */

import { messageOf } from "../../pacing/error-text.ts";

export interface SchemaFault {
  readonly path: readonly string[];
  readonly message: string;
}

export const TOO_COSTLY: SchemaFault = { path: [], message: "takes too long to compile" };
export const ENDLESS_WORK: SchemaFault = { path: [], message: "takes too long to check against its schema" };

/** Limit of characters as JSON: enough for several hundred described variables. */
export const MAX_SCHEMA_CHARS = 65_536;
/** Limit of nested objects and lists. Schemas written by hand stay below 15; the compiler recurses once per level. */
export const MAX_SCHEMA_DEPTH = 40;
/** Limit of objects and lists. Compiling takes about 20 µs for each, so at most some 40 ms. */
export const MAX_SCHEMA_NODES = 2_000;
/** Limit of characters of one `pattern`. A pattern for email addresses has about 80. */
export const MAX_PATTERN_CHARS = 250;
/** Limit of errors reported for one schema or value; the first ones are sufficient. */
export const MAX_FAULTS = 50;

/** Keywords whose content is data, so that a `$ref` or `pattern` in it is a plain value. */
const DATA_KEYWORDS = new Set(["const", "enum", "default", "examples"]);
/** Keywords whose keys are names, not keywords. */
const NAME_KEYWORDS = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
export const DIALECTS: ReadonlySet<string> = new Set([
  "https://json-schema.org/draft/2020-12/schema",
  "https://json-schema.org/draft/2020-12/schema#",
]);

/** The schema is larger than a schema may be; null when it is not. Takes some 3 ms for a list of 30,000 numbers. */
export function sizeFault(schema: Readonly<Record<string, unknown>>): SchemaFault | null {
  const size = measure(schema);
  if (size !== null) return { path: [], message: size };
  if (JSON.stringify(schema).length <= MAX_SCHEMA_CHARS) return null;
  return { path: [], message: TOO_LONG };
}

const TOO_LONG = `must be at most ${MAX_SCHEMA_CHARS} characters long as JSON`;

/** All reasons why the schema cannot be compiled safely; empty when it can. */
export function limitFaults(schema: Readonly<Record<string, unknown>>): SchemaFault[] {
  const size = sizeFault(schema);
  if (size !== null) return [size];
  const faults: SchemaFault[] = [];
  walk(schema, [], faults);
  return faults.slice(0, MAX_FAULTS);
}

function measure(schema: object): string | null {
  let nodes = 0;
  let values = 0;
  const waiting: { readonly value: object; readonly depth: number }[] = [{ value: schema, depth: 1 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next;
    nodes += 1;
    if (nodes > MAX_SCHEMA_NODES) return `must hold at most ${MAX_SCHEMA_NODES} objects and lists`;
    if (depth > MAX_SCHEMA_DEPTH) return `must be at most ${MAX_SCHEMA_DEPTH} levels deep`;
    const inside: unknown[] = Object.values(value);
    values += inside.length;
    // Each takes a character and a comma at least.
    if (values > MAX_SCHEMA_CHARS / 2) return TOO_LONG;
    for (const inner of inside) {
      if (typeof inner === "object" && inner !== null) waiting.push({ value: inner, depth: depth + 1 });
    }
  }
  return null;
}

function walk(value: unknown, path: readonly string[], faults: SchemaFault[]): void {
  if (faults.length >= MAX_FAULTS) return;
  if (Array.isArray(value)) {
    value.forEach((item, index) => walk(item, [...path, String(index)], faults));
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [keyword, content] of Object.entries(value)) {
    const here = [...path, keyword];
    const message = problemOf(keyword, content);
    if (message !== null) faults.push({ path: here, message });
    if (DATA_KEYWORDS.has(keyword)) continue;
    if (NAME_KEYWORDS.has(keyword)) walkNamed(keyword, content, here, faults);
    else walk(content, here, faults);
  }
}

function walkNamed(keyword: string, content: unknown, path: readonly string[], faults: SchemaFault[]): void {
  if (typeof content !== "object" || content === null) return;
  for (const [name, schema] of Object.entries(content)) {
    const here = [...path, name];
    const message = keyword === "patternProperties" ? problemOfPattern(name) : null;
    if (message !== null) faults.push({ path: here, message: `its name, a pattern, ${message}` });
    walk(schema, here, faults);
  }
}

function problemOf(keyword: string, content: unknown): string | null {
  switch (keyword) {
    case "$ref":
    case "$dynamicRef":
      if (typeof content !== "string") return "must be text";
      return content.startsWith("#")
        ? null
        : "must stay inside the schema: only references with # are allowed";
    case "$schema":
      return typeof content === "string" && DIALECTS.has(content)
        ? null
        : "must be https://json-schema.org/draft/2020-12/schema, or left out";
    case "$async":
      return "is not part of JSON Schema 2020-12";
    case "pattern":
      return problemOfPattern(content);
    default:
      return null;
  }
}

function problemOfPattern(pattern: unknown): string | null {
  if (typeof pattern !== "string") return "must be text";
  if (pattern.length > MAX_PATTERN_CHARS) return `must be at most ${MAX_PATTERN_CHARS} characters long`;
  try {
    // Only parsed here. JSON Schema patterns are ECMA-262 with Unicode semantics.
    RegExp(pattern, "u");
    return null;
  } catch (error) {
    return `must be a regular expression: ${messageOf(error)}`;
  }
}
