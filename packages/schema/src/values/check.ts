import type { z } from "zod";

/** Reports one problem of a checked value; `path` is relative to that value. */
export type Report = (path: readonly (string | number)[], message: string) => void;

/**
 * Adds a rule that concerns several fields. It runs even when single fields are already wrong, so that every
 * problem of a body is reported together; so the rule sees unvalidated input and must not rely on its types.
 */
export function withRule<S extends z.ZodType>(schema: S, rule: (value: unknown, report: Report) => void): S {
  return schema.superRefine(
    (value, context) => {
      rule(value, (path, message) => {
        context.addIssue({ code: "custom", path: [...path], message });
      });
    },
    { when: () => true },
  );
}

/** The value as a JSON object, or null when it is anything else. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}

/** The value as a list; empty when it is anything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

export function asText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
