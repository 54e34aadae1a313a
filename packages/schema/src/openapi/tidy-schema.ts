/** Removes from printed JSON Schema what is meant for our own code alone. */

import type { z } from "zod";
import { MARK_NAMES } from "../values/fields.ts";
import { viewOf } from "../values/walk.ts";

export interface Printed {
  readonly zodSchema: z.core.$ZodTypes;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}

/** Removes our own marks, and describes template strings. */
export function tidy({ jsonSchema }: Printed): void {
  if (jsonSchema["template"] === true) {
    jsonSchema.description ??= "In an agent, texts in here are template strings, filled at call creation.";
  }
  for (const mark of MARK_NAMES) delete jsonSchema[mark];
}

/** The same with the names of the public service: what it would answer as null is left out. */
export function tidyForVendor(printed: Printed): void {
  const { zodSchema, jsonSchema } = printed;
  const { structure, marks } = viewOf(zodSchema);
  if (structure.kind === "object" && jsonSchema.required !== undefined) {
    const omitted = (name: string) => {
      const field = structure.fields.get(name);
      return field !== undefined && viewOf(field).marks.vendorOmitsNull === true;
    };
    jsonSchema.required = jsonSchema.required.filter((name) => !omitted(name));
  }
  if (marks.vendorOmitsNull === true && jsonSchema.anyOf !== undefined) {
    const [value] = jsonSchema.anyOf.filter(({ type }) => type !== "null");
    delete jsonSchema.anyOf;
    Object.assign(jsonSchema, value);
  }
  tidy(printed);
}
