/** The import of an OpenAPI document as a job of a thread. */

import type { FieldError } from "@parley/schema";
import { toolsOfOpenApi } from "./openapi-tools.ts";

export type ImportOutput =
  /** Each a `ToolWrite` as JSON. */
  { readonly tools: readonly string[] } | { readonly errors: readonly FieldError[] };

export function run(bytes: Uint8Array): ImportOutput {
  const read = toolsOfOpenApi(bytes);
  return "errors" in read
    ? { errors: read.errors }
    : { tools: read.tools.map((tool) => JSON.stringify(tool)) };
}
