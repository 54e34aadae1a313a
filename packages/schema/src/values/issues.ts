/** Messages for problems that a schema finds. */

import type { z } from "zod";
import type { FieldError } from "./errors.ts";

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** A phrase that follows the name of the field, such as "must be at most 1". */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is required";
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      if (issue.input === undefined) return "is required";
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(", ")}`;
    case "too_big":
      return describeBound(
        "at most",
        issue.origin,
        Number(issue.maximum),
        issue.inclusive === false,
        "less than",
      );
    case "too_small":
      return describeBound(
        "at least",
        issue.origin,
        Number(issue.minimum),
        issue.inclusive === false,
        "more than",
      );
    case "invalid_format":
      return "pattern" in issue && issue.pattern !== undefined
        ? `must match ${issue.pattern}`
        : `must be a valid ${issue.format}`;
    case "invalid_union":
      return "does not match any of the allowed forms";
    case "unrecognized_keys":
      return "has unknown fields";
    case "invalid_key":
      return "has a key that is not allowed";
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_element":
      return "has an element that is not allowed";
    case "custom":
      break;
  }
  return issue.message ?? "is not valid";
}

function describeBound(
  words: string,
  origin: string,
  bound: number,
  exclusive: boolean,
  exclusiveWords: string,
): string {
  if (origin === "array" || origin === "set")
    return `must have ${words} ${bound} ${bound === 1 ? "entry" : "entries"}`;
  if (origin === "string") {
    return words === "at least" && bound === 1
      ? "must not be empty"
      : `must have ${words} ${bound} characters`;
  }
  return `must be ${exclusive ? exclusiveWords : words} ${bound}`;
}

/** Checks a normalised value; problems have dotted paths. */
export function checkValue<S extends z.ZodType>(
  schema: S,
  value: unknown,
):
  { readonly ok: true; readonly value: z.output<S> } | { readonly ok: false; readonly errors: FieldError[] } {
  const result = schema.safeParse(value, { error: describeIssue });
  if (result.success) return { ok: true, value: result.data };
  const errors = result.error.issues.map((issue) => ({
    field: issue.path.map(String).join("."),
    message: issue.message,
  }));
  return { ok: false, errors };
}
