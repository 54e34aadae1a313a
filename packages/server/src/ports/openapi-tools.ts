/** Port that generates tools from an OpenAPI document. */

import type { FieldError, ToolWrite } from "@parley/schema";

export type OpenApiTools =
  | { readonly tools: readonly ToolWrite[] }
  /** Each names a place in the document, such as `paths./orders.get`. */
  | { readonly errors: readonly FieldError[] };
