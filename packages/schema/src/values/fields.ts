/** Field types that many schemas share, and marks that control input and output. */

import { z } from "zod";
import type { Scope } from "./scope.ts";

/**
 * Marks of a field, in its zod metadata. `readOnly` fields are dropped from input even if malformed, `writeOnly`
 * fields are never returned, `secret` texts are returned masked, `sealed` texts are encrypted at rest, and the content
 * of `freeForm` fields is not interpreted.
 */
export interface FieldMarks {
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
  readonly secret?: boolean;
  readonly sealed?: boolean;
  /** API keys without this scope get null if the field can be null, else its texts masked. */
  readonly shownTo?: Scope;
  readonly freeForm?: boolean;
  /** Null is a value of the field, other than its absence. */
  readonly keepsNull?: boolean;
  /** A template string, filled from the context at call creation. */
  readonly template?: boolean;
  /** Fields that input may contain because a fetched record has them; they are dropped. */
  readonly ignoredKeys?: readonly string[];
  /** Fields that exist elsewhere but are refused here, each with the reason. */
  readonly refusedKeys?: Readonly<Record<string, string>>;
  /** The public service's schema does not allow null: with its names, the field is left out instead. */
  readonly vendorOmitsNull?: boolean;
  /** Values that the public service spells in another way. */
  readonly vendorValues?: Readonly<Record<string, string>>;
  /** A map with more members is refused before any member is checked. */
  readonly mostMembers?: { readonly count: number; readonly message: string };
}

export const MARK_NAMES = [
  "secret",
  "sealed",
  "shownTo",
  "freeForm",
  "keepsNull",
  "template",
  "ignoredKeys",
  "refusedKeys",
  "mostMembers",
  "vendorOmitsNull",
  "vendorValues",
] as const;

export function readOnly<S extends z.ZodType>(schema: S): S {
  return schema.meta({ readOnly: true });
}

/** Accepted, used, never returned, encrypted at rest. */
export function writeOnly<S extends z.ZodType>(schema: S): S {
  return schema.meta({ writeOnly: true, sealed: true });
}

/** Encrypted at rest, and returned in full to keys with the scope: the user needs it to check signatures. */
export function sealed<S extends z.ZodType>(schema: S, shownTo: Scope): S {
  return schema.meta({ sealed: true, shownTo });
}

/** Returned only masked, encrypted at rest. */
export function secret<S extends z.ZodType>(schema: S): S {
  return schema.meta({ secret: true, sealed: true });
}

export function template<S extends z.ZodType>(schema: S): S {
  return schema.meta({ template: true });
}

/** Null without a value; left out with the names of the public service. */
export function nullUnlessVendor<S extends z.ZodType>(schema: S) {
  return schema.nullable().meta({ vendorOmitsNull: true });
}

/** Ignores fields of a fetched record that are sent back in a body. */
export function ignoring<S extends z.ZodType>(schema: S, keys: readonly string[]): S {
  return schema.meta({ ignoredKeys: keys });
}

/** A required field in the body of a change: it may be absent, but not null. */
export function keepable<S extends z.ZodType>(field: S) {
  return field
    .nullable()
    .refine((value) => value !== null, { error: "must not be null" })
    .optional();
}

/** A JSON object whose content is not interpreted. */
export const FreeObject = z.record(z.string(), z.unknown()).meta({ freeForm: true });

/** Any JSON value. */
export const FreeValue = z.unknown().meta({ freeForm: true });

/** Any JSON value as an optional field: null is a value, and not the same as absent. */
export const NullableValue = FreeValue.meta({ freeForm: true, keepsNull: true });

/** A map from names chosen by the user to texts. */
export const TextMap = z.record(z.string(), z.string()).meta({ freeForm: true });

const UUID_PATTERN = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

/** An identifier; parses to lower case. */
export const Uuid = z
  .string()
  .regex(UUID_PATTERN, { error: "must be a UUID" })
  .overwrite((text) => text.toLowerCase())
  .meta({ format: "uuid" });

const TIMESTAMP_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A point in time in a response: UTC with milliseconds and `Z`, as `Date.prototype.toISOString` prints it. */
export const Timestamp = z
  .string()
  .regex(TIMESTAMP_PATTERN, { error: "must be a UTC date-time with milliseconds" })
  .meta({ format: "date-time" });

/** Number of Unicode code points. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Text of `min` to `max` code points. */
export function text(min: number, max: number) {
  return z
    .string()
    .superRefine((value, context) => {
      const length = codePoints(value);
      if (length < min) {
        context.addIssue({
          code: "custom",
          message: min === 1 ? "must not be empty" : `must have at least ${min} characters`,
        });
      } else if (length > max) {
        context.addIssue({ code: "custom", message: `must have at most ${max} characters` });
      }
    })
    .meta({ ...(min > 0 ? { minLength: min } : {}), maxLength: max });
}

// eslint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/u;

/** A name of 1 to `max` code points, neither blank nor with control characters. */
export function name(max: number) {
  return text(1, max).superRefine((value, context) => {
    if (value.trim() === "" && value !== "")
      context.addIssue({ code: "custom", message: "must not be blank" });
    if (CONTROL_CHARACTERS.test(value)) {
      context.addIssue({ code: "custom", message: "must not contain control characters" });
    }
  });
}

/** A number from `min` to `max`; the error names the whole range. */
export function ranged(min: number, max: number) {
  const error = `must be from ${min} to ${max}`;
  return z.number().min(min, { error }).max(max, { error });
}

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .int({ error: (issue) => (typeof issue.input === "number" ? error : undefined) })
    .min(min, { error })
    .max(max, { error });
}
