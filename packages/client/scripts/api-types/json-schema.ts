/** The parts of an OpenAPI 3.1 document that become types. */

import { componentOf, type JsonSchema } from "@parley/schema/openapi/described-schema";

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

export interface Content {
  readonly schema?: JsonSchema;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly [string];
  readonly "x-required-scope"?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: Readonly<Record<string, Content>> }>
  >;
}

export interface OpenApiDocument {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** All components that a schema or a part of an operation refers to, directly. */
export function componentsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(componentsIn);
  if (typeof value !== "object" || value === null) return [];
  const own = "$ref" in value && typeof value.$ref === "string" ? componentOf({ $ref: value.$ref }) : null;
  return [...(own === null ? [] : [own]), ...Object.values(value).flatMap(componentsIn)];
}
