/** New documents need complete secrets: there is no stored secret that a masked one could mean. */

import type { z } from "zod";
import { withRule, type Report } from "./check.ts";
import { isMasked } from "./http-parts.ts";
import { viewOf } from "./walk.ts";

/** Refuses masked secrets, such as the headers of a template that was fetched. */
export function withWholeSecrets<S extends z.ZodType>(schema: S): S {
  return withRule(schema, (value, report) => {
    reportMasked(schema, value, [], report);
  });
}

function reportMasked(
  schema: z.core.$ZodType,
  value: unknown,
  path: readonly string[],
  report: Report,
): void {
  const { structure, marks } = viewOf(schema);
  if (marks.secret === true) {
    for (const [key, item] of entriesOf(value)) {
      if (typeof item === "string" && isMasked(item)) {
        report([...path, key], "must be given in full; responses show only its first characters");
      }
    }
    return;
  }
  if (marks.freeForm === true || structure.kind === "leaf" || structure.kind === "union") return;
  for (const [key, item] of entriesOf(value)) {
    const field = structure.kind === "object" ? structure.fields.get(key) : structure.item;
    if (field !== undefined) reportMasked(field, item, [...path, key], report);
  }
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}
