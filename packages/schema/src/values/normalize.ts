/** Brings a document into its canonical form, before any rule is checked. */

import type { z } from "zod";
import type { FieldError } from "./errors.ts";
import { spellingsOf, spellingTable } from "../names/names.ts";
import { suggestField } from "./suggest.ts";
import { chooseOption, viewOf, type SchemaView } from "./walk.ts";

export interface NormalizeOptions {
  /** Drop unknown fields silently instead of reporting them. */
  readonly lenient?: boolean;
  /** Keep null at the top level: it clears a stored value. */
  readonly partial?: boolean;
  /** Values come from a query string: texts become the numbers, booleans and lists of the schema. */
  readonly fromText?: boolean;
}

export interface Normalized {
  readonly value: unknown;
  readonly errors: readonly FieldError[];
}

interface Pass extends NormalizeOptions {
  readonly root: z.core.$ZodType;
  readonly errors: FieldError[];
}

/**
 * A copy with canonical names. Vendor spellings and snake_case become canonical at any depth except inside free-form
 * values; read-only fields are dropped; null, an empty enum text and `…_UNSPECIFIED` become absent. Reports two
 * spellings of one field and unknown fields. Values of the wrong type are passed on for the schema to report.
 */
export function normalizeInput(
  schema: z.core.$ZodType,
  value: unknown,
  options: NormalizeOptions = {},
): Normalized {
  const errors: FieldError[] = [];
  return { value: readValue(schema, value, [], { ...options, root: schema, errors }), errors };
}

function readValue(schema: z.core.$ZodType, value: unknown, path: readonly string[], pass: Pass): unknown {
  const { structure, marks } = viewOf(schema);
  const { mostMembers } = marks;
  if (mostMembers !== undefined && isObject(value) && Object.keys(value).length > mostMembers.count) {
    report(pass, path, mostMembers.message);
    return {};
  }
  if (marks.freeForm === true) return value;
  if (structure.kind === "leaf") return pass.fromText === true ? readText(structure.type, value) : value;
  if (structure.kind === "list") {
    const list = pass.fromText === true && typeof value === "string" ? [value] : value;
    if (!Array.isArray(list)) return list;
    const { most } = structure;
    // Checking a hundred thousand entries to find that there are too many would take seconds.
    if (list.length > most) {
      report(pass, path, `must have at most ${most} ${most === 1 ? "entry" : "entries"}`);
      return readValue(schema, list.slice(0, most), path, pass);
    }
    if (isAllLeaves(structure.item, pass)) return list;
    return list.map((item, index) => readValue(structure.item, item, [...path, String(index)], pass));
  }
  if (!isObject(value)) return value;
  if (structure.kind === "union") {
    const option = chooseOption(structure, value);
    return option === null ? value : readValue(option, value, path, pass);
  }
  if (structure.kind === "map") {
    if (isAllLeaves(structure.item, pass)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        readValue(structure.item, item, [...path, key], pass),
      ]),
    );
  }
  return readObject(viewOf(schema), structure.fields, value, path, pass);
}

/** Whether items are passed on unchanged: there may be a hundred thousand of them. */
function isAllLeaves(item: z.core.$ZodType, pass: Pass): boolean {
  if (pass.fromText === true) return false;
  const { structure, marks } = viewOf(item);
  return marks.freeForm === true || structure.kind === "leaf";
}

function readObject(
  view: SchemaView,
  fields: ReadonlyMap<string, z.core.$ZodType>,
  value: Readonly<Record<string, unknown>>,
  path: readonly string[],
  pass: Pass,
): unknown {
  const table = spellingTable(fields);
  const ignored = ignoredSpellings(view);
  const spelled = new Map<string, string>();
  const result = new Map<string, unknown>();
  for (const [key, item] of Object.entries(value)) {
    const name = table.get(key);
    if (name === undefined) {
      if (!ignored.has(key)) reportUnknown(view, fields, key, path, pass);
      continue;
    }
    const first = spelled.get(name);
    if (first !== undefined) {
      report(pass, [...path, name], `must not be given twice, as ${first} and as ${key}`);
      continue;
    }
    spelled.set(name, key);
    const field = fields.get(name);
    if (field === undefined) continue;
    const fieldView = viewOf(field);
    if (fieldView.marks.readOnly === true) continue;
    if (item === null && isTopOfChange(path, pass)) {
      if (fieldView.nullable) result.set(name, null);
      else report(pass, [...path, name], "must not be null");
      continue;
    }
    if (isUnset(fieldView, item, pass)) continue;
    result.set(name, readValue(field, item, [...path, name], pass));
  }
  return Object.fromEntries(result);
}

/** Here null clears the stored value, which some fields must have; anywhere else null means absent. */
function isTopOfChange(path: readonly string[], pass: Pass): boolean {
  return pass.partial === true && path.length === 0;
}

function isUnset(view: SchemaView, value: unknown, pass: Pass): boolean {
  const { structure, marks, optional, nullable } = view;
  if (value === null) return marks.keepsNull !== true && (optional || nullable);
  if (pass.fromText === true) return false;
  if (structure.kind !== "leaf" || structure.type !== "enum") return false;
  return value === "" || (typeof value === "string" && value.endsWith("_UNSPECIFIED"));
}

const NONE: ReadonlySet<string> = new Set();

function ignoredSpellings({ marks }: SchemaView): ReadonlySet<string> {
  return marks.ignoredKeys === undefined ? NONE : new Set(marks.ignoredKeys.flatMap(spellingsOf));
}

function reportUnknown(
  { marks }: SchemaView,
  fields: ReadonlyMap<string, z.core.$ZodType>,
  key: string,
  path: readonly string[],
  pass: Pass,
): void {
  const refused = marks.refusedKeys ?? {};
  const refusedName = Object.keys(refused).find((name) => spellingsOf(name).includes(key));
  if (refusedName !== undefined) {
    report(pass, [...path, refusedName], refused[refusedName] ?? "");
    return;
  }
  if (pass.lenient === true || pass.errors.length > MAX_REPORTED) return;
  const isLate = pass.errors.length >= MAX_SUGGESTED;
  const suggestion = isLate ? null : suggestField(pass.root, [...fields.keys()], key, path);
  report(
    pass,
    [...path, key],
    suggestion === null ? "is not a known field" : `is not a known field here; did you mean ${suggestion}?`,
  );
}

/** Further unknown fields are not reported. */
const MAX_REPORTED = 200;
/** A suggestion costs a tenth of a millisecond or more. */
const MAX_SUGGESTED = 25;

function report(pass: Pass, path: readonly string[], message: string): void {
  if (pass.errors.length > MAX_REPORTED) return;
  pass.errors.push({ field: path.join("."), message });
}

const NUMBER_TEXT = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;

function readText(type: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (type === "number" || type === "int") return NUMBER_TEXT.test(value) ? Number(value) : value;
  if (type === "boolean") return value === "true" ? true : value === "false" ? false : value;
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
