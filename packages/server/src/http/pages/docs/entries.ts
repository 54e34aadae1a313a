/** The operations of the description, as the cards and the examples of the reference page use them. */

import { componentOf, type JsonSchema } from "@parley/schema/openapi/described-schema";
import type { OpenApiDocument, Operation } from "./open-api.ts";

export interface Entry {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export interface CardOptions {
  /** Bodies for the examples by operation id; other bodies are made from the schema. */
  readonly examples: Readonly<Record<string, unknown>>;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

const METHODS: ReadonlySet<string> = new Set(["get", "post", "put", "patch", "delete"]);

/** The operations of each tag, in the order of the document. */
export function entriesOf(document: OpenApiDocument): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (!METHODS.has(method)) continue;
      const group = operation.tags?.[0] ?? "other";
      const id = operation.operationId ?? `${method}-${path.replaceAll(/[^a-z0-9]+/gi, "-")}`;
      groups.set(group, [...(groups.get(group) ?? []), { id, method, path, operation }]);
    }
  }
  return groups;
}

export interface Body {
  readonly type: string;
  readonly schema: JsonSchema;
  /** The value itself, or what it refers to. */
  readonly whole: JsonSchema;
}

export function bodyOf({ operation }: Entry, document: OpenApiDocument): Body | null {
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (type === undefined || content?.schema === undefined) return null;
  const { schema } = content;
  const whole = document.components?.schemas?.[componentOf(schema) ?? ""] ?? schema;
  return { type, schema, whole };
}

/** Whether it is a call's medium, which the examples of requests do not support. */
export function isJoin({ path }: Entry): boolean {
  return path.startsWith("/calls/");
}
