/** Renders stored values for responses. */

import { z } from "zod";
import type { Scope } from "./scope.ts";
import { isMasked, MASK } from "./http-parts.ts";
import { checkValue } from "./issues.ts";
import { toVendorNames, type ApiNames } from "../names/names.ts";
import { viewOf } from "./walk.ts";

/** Characters of a secret that a response shows. */
const SHOWN_CHARACTERS = 4;
/** Shorter secrets show nothing, so that no response reveals half of a secret. */
const LEAST_MASKED_LENGTH = 8;

/** The first characters of a secret, such as `Bear…`. A masked secret is returned unchanged. */
export function maskSecret(secret: string): string {
  if (isMasked(secret)) return secret;
  const characters = Array.from(secret);
  return `${characters.length < LEAST_MASKED_LENGTH ? "" : characters.slice(0, SHOWN_CHARACTERS).join("")}${MASK}`;
}

/** A copy in which `change` was applied to every text that must be encrypted at rest. */
export function mapSecrets(
  schema: z.core.$ZodType,
  value: unknown,
  change: (text: string) => string,
): unknown {
  const { structure, marks } = viewOf(schema);
  if (marks.sealed === true) return mapTexts(value, change);
  if (typeof value !== "object" || value === null || marks.freeForm === true) return value;
  if (structure.kind === "list" && Array.isArray(value)) {
    return value.map((item) => mapSecrets(structure.item, item, change));
  }
  if (structure.kind !== "object" && structure.kind !== "map") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const field = structure.kind === "map" ? structure.item : structure.fields.get(key);
      return [key, field === undefined ? item : mapSecrets(field, item, change)];
    }),
  );
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]));
}

export interface AnswerOptions {
  readonly names?: ApiNames;
  /** Whether the reader's API key has a scope. Absent: it has all. */
  readonly hasScope?: (scope: Scope) => boolean;
  /** Throw if the response does not match the schema exactly. */
  readonly check?: boolean;
}

/**
 * A response in the form of the schema: only known fields, in the schema's order, without write-only fields, with
 * masked secrets and without what the reader's scopes do not allow. Without a value, nullable fields are null and optional fields absent.
 */
export function renderAnswer(schema: z.core.$ZodType, value: unknown, options: AnswerOptions = {}): unknown {
  const answer = shape(schema, value, options.hasScope ?? (() => true));
  if (options.check === true) assertAnswer(schema, answer);
  return options.names === "vendor" ? toVendorNames(schema, answer) : answer;
}

function shape(schema: z.core.$ZodType, value: unknown, hasScope: (scope: Scope) => boolean): unknown {
  const { structure, marks, nullable } = viewOf(schema);
  const isHidden = marks.shownTo !== undefined && !hasScope(marks.shownTo);
  if (isHidden && nullable) return null;
  if (isHidden || marks.secret === true) return mapTexts(value, maskSecret);
  if (typeof value !== "object" || value === null || marks.freeForm === true) return value;
  if (structure.kind === "list" && Array.isArray(value))
    return value.map((item) => shape(structure.item, item, hasScope));
  if (structure.kind === "map") {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, shape(structure.item, item, hasScope)]),
    );
  }
  if (structure.kind !== "object" || Array.isArray(value)) return value;
  const given = value as Readonly<Record<string, unknown>>;
  const result: [string, unknown][] = [];
  for (const [key, field] of structure.fields) {
    const { marks: fieldMarks, optional, nullable: canBeNull } = viewOf(field);
    if (fieldMarks.writeOnly === true) continue;
    const item = Object.hasOwn(given, key) ? (given[key] ?? null) : null;
    if (item !== null) result.push([key, shape(field, item, hasScope)]);
    else if (canBeNull && !optional) result.push([key, null]);
    else if (fieldMarks.keepsNull === true && given[key] === null) result.push([key, null]);
  }
  return Object.fromEntries(result);
}

const answerSchemas = new WeakMap<z.core.$ZodType, z.ZodType>();

/**
 * The schema of a response: the same without write-only fields and the rules that need them, and with masked
 * secrets.
 */
export function answerSchemaOf(schema: z.core.$ZodType): z.ZodType {
  const known = answerSchemas.get(schema);
  if (known !== undefined) return known;
  const { optional, nullable } = viewOf(schema);
  const base = answerBase(schema);
  const nullableBase = nullable ? base.nullable() : base;
  const result = optional ? nullableBase.optional() : nullableBase;
  answerSchemas.set(schema, result);
  return result;
}

function answerBase(schema: z.core.$ZodType): z.ZodType {
  const { structure, marks, core } = viewOf(schema);
  if (marks.freeForm === true)
    return structure.kind === "map" ? z.record(z.string(), z.unknown()) : z.unknown();
  if (structure.kind === "list") return z.array(answerSchemaOf(structure.item));
  if (structure.kind === "map") return z.record(z.string(), answerSchemaOf(structure.item));
  if (structure.kind !== "object") return core as z.ZodType;
  const fields = [...structure.fields].filter(([, field]) => viewOf(field).marks.writeOnly !== true);
  return z.strictObject(Object.fromEntries(fields.map(([key, field]) => [key, answerSchemaOf(field)])));
}

function assertAnswer(schema: z.core.$ZodType, answer: unknown): void {
  const checked = checkValue(answerSchemaOf(schema), answer);
  if (!checked.ok) {
    const problems = checked.errors.map(({ field, message }) => `${field} ${message}`).join("; ");
    throw new Error(`an answer is not what its schema promises: ${problems}`);
  }
  if (JSON.stringify(checked.value) !== JSON.stringify(answer)) {
    throw new Error(
      "an answer holds a value that is not in its canonical form, such as a duration with zeros",
    );
  }
}
