/** The checks of schemas and values as jobs of a thread. */

import { type JsonSchema, openJsonSchema } from "./json-schema.ts";
import type { SchemaFault } from "./schema-limits.ts";

/** Schema and value are JSON texts. */
export type SchemaTask =
  | { readonly type: "schema"; readonly schema: string }
  | { readonly type: "value"; readonly schema: string; readonly value: string }
  | { readonly type: "values"; readonly schema: string; readonly value: string };

export interface SchemaOutput {
  /** For `values` one that names no place: some value does not satisfy the schema. */
  readonly faults: readonly SchemaFault[];
}

const schemas = openJsonSchema();

export function run(task: SchemaTask): SchemaOutput {
  const schema = JSON.parse(task.schema) as JsonSchema;
  const faults = schemas.checkSchema(schema);
  // For a value: it was usable before, and took too long this time.
  if (task.type === "schema" || faults.length > 0) return { faults };
  const value = JSON.parse(task.value) as unknown;
  if (task.type === "value") return { faults: schemas.checkValue(schema, value) };
  const isGood = Array.isArray(value) && schemas.allSatisfy(schema, value);
  return { faults: isGood ? [] : [{ path: [], message: "does not satisfy the schema" }] };
}
