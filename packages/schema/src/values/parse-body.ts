/** Parses requests to typed values, or throws one error that names all problems. */

import type { z } from "zod";
import { ApiError, validationError, type FieldError } from "./errors.ts";
import { checkValue } from "./issues.ts";
import { normalizeInput } from "./normalize.ts";
import { viewOf } from "./walk.ts";

export interface ParseOptions {
  /** Ignore unknown fields instead of refusing them. */
  readonly lenient?: boolean;
  /** The body changes a record: null at the top level clears the stored value. */
  readonly partial?: boolean;
  /** The texts have been checked: all of them can be stored. */
  readonly storable?: boolean;
}

export type Checked<T> = { readonly value: T } | { readonly errors: readonly FieldError[] };

/** The typed value of a JSON body, or all its problems. */
export function checkBody<S extends z.ZodType>(
  schema: S,
  body: unknown,
  options: ParseOptions = {},
): Checked<z.output<S>> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return { errors: [{ field: "", message: "must be a JSON object" }] };
  }
  const { value, errors } = normalizeInput(schema, body, options);
  return finish(schema, value, [...(options.storable === true ? [] : unstorableTexts(body)), ...errors]);
}

/** The typed value of a JSON body. Throws `ApiError("validation_failed")` with all problems. */
export function parseBody<S extends z.ZodType>(
  schema: S,
  body: unknown,
  options: ParseOptions = {},
): z.output<S> {
  return valueOrThrow(checkBody(schema, body, options));
}

function valueOrThrow<T>(checked: Checked<T>): T {
  if ("errors" in checked) throw validationError(checked.errors);
  return checked.value;
}

/** An unparsed query: a repeated name has a list. */
export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The typed value of a query. Texts become the numbers, booleans and lists of the schema; `metadata.color` (or
 * `metadata[color]`) becomes the entry `color` of the map `metadata`. Throws like `parseBody`.
 */
export function parseQuery<S extends z.ZodType>(
  schema: S,
  query: RawQuery,
  options: Pick<ParseOptions, "lenient"> = {},
): z.output<S> {
  const { value, errors } = normalizeInput(schema, gatherMaps(schema, query), { ...options, fromText: true });
  return valueOrThrow(finish(schema, value, [...unstorableTexts(query), ...errors]));
}

/** The typed parameters of a path. Throws `ApiError("not_found")` for a malformed one, which cannot name anything. */
export function parsePathParams<S extends z.ZodType>(schema: S, params: unknown): z.output<S> {
  const { value } = normalizeInput(schema, params, { fromText: true });
  const checked = checkValue(schema, value);
  if (!checked.ok) {
    const names = checked.errors.map(({ field }) => field).join(", ");
    throw new ApiError("not_found", `Nothing has this ${names}.`);
  }
  return checked.value;
}

/** Most problems reported for one body: more are usually one mistake that repeats. */
export const MAX_PROBLEMS = 100;

function finish<S extends z.ZodType>(
  schema: S,
  value: unknown,
  found: readonly FieldError[],
): Checked<z.output<S>> {
  const checked = checkValue(schema, value);
  const errors = checked.ok ? found : [...found, ...checked.errors];
  if (checked.ok && errors.length === 0) return { value: checked.value };
  const seen = new Set<string>();
  const distinct = errors.filter(({ field, message }) => {
    const key = `${field}\u0000${message}`;
    return seen.size < seen.add(key).size;
  });
  return { errors: listed(distinct) };
}

/** The first problems. If there are more, the last entry says so. */
export function listed(problems: readonly FieldError[]): readonly FieldError[] {
  if (problems.length <= MAX_PROBLEMS) return problems;
  const more = { field: "", message: "has more problems than are listed here" };
  return [...problems.slice(0, MAX_PROBLEMS), more];
}

/** `metadata.color`, or `metadata[color]` as generated clients write it. */
const MAP_ENTRY = /^([^.[]+)(?:\.(.+)|\[(.+)\])$/s;

function gatherMaps(schema: z.ZodType, query: RawQuery): Readonly<Record<string, unknown>> {
  const { structure } = viewOf(schema);
  if (structure.kind !== "object") return query;
  const result = new Map<string, unknown>();
  const maps = new Map<string, [string, unknown][]>();
  for (const [key, value] of Object.entries(query)) {
    const [, map = "", dotted, bracketed] = MAP_ENTRY.exec(key) ?? [];
    const field = structure.fields.get(map);
    if (field === undefined || viewOf(field).structure.kind !== "map") result.set(key, value);
    else maps.set(map, [...(maps.get(map) ?? []), [dotted ?? bracketed ?? "", value]]);
  }
  for (const [map, entries] of maps) result.set(map, Object.fromEntries(entries));
  return Object.fromEntries(result);
}

/** A value in a body, with its path. */
interface Place {
  readonly value: unknown;
  readonly key: string;
  readonly around: Place | null;
}

/**
 * Texts and keys that are valid JSON but cannot be stored in PostgreSQL or UTF-8: U+0000 and halves of surrogate pairs.
 * Uses its own stack, so nesting is not limited, and builds paths only for problems: the paths of a hundred thousand
 * members would take longer than all other work.
 */
function unstorableTexts(body: unknown): FieldError[] {
  const errors: FieldError[] = [];
  const waiting: Place[] = [{ value: body, key: "", around: null }];
  for (let next = waiting.pop(); next !== undefined && errors.length <= MAX_PROBLEMS; next = waiting.pop()) {
    const { value } = next;
    if (typeof value === "string") {
      const problem = textProblem(value);
      if (problem !== null) errors.push({ field: pathOf(next), message: problem });
    } else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value).toReversed()) {
        const problem = Array.isArray(value) ? null : textProblem(key);
        if (problem !== null) errors.push({ field: pathOf(next), message: `has a key that ${problem}` });
        else if (typeof item === "string" || typeof item === "object")
          waiting.push({ value: item, key, around: next });
      }
    }
  }
  return errors;
}

function pathOf(place: Place): string {
  const path: string[] = [];
  for (let at = place; at.around !== null; at = at.around) path.push(at.key);
  return path.toReversed().join(".");
}

function textProblem(text: string): string | null {
  if (text.includes("\u0000")) return "must not contain the character U+0000";
  return text.isWellFormed() ? null : "must not contain half of a surrogate pair";
}
