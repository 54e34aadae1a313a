/** Tools as forms hold them: the document itself, so that nothing which a form does not show is lost. */

import type { BaseToolDefinition, Tool } from "@parley/schema";

export type Definition = BaseToolDefinition;

export const TOOL_KINDS = ["http", "client", "dataConnection", "staticResponse", "mcp"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

export const KIND_NAMES: Readonly<Record<ToolKind, string>> = {
  http: "HTTP",
  client: "Client",
  dataConnection: "Data connection",
  staticResponse: "Fixed answer",
  mcp: "MCP server",
};

export const KIND_NOTES: Readonly<Record<ToolKind, string>> = {
  http: "The service sends a request to an address of yours.",
  client: "The program that holds the call runs it: a page, an app.",
  dataConnection: "The program at the other end of the call's data connection runs it.",
  staticResponse: "The model is always told the same text; nothing is run.",
  mcp: "The service asks a server that speaks the Model Context Protocol.",
};

/** An implementation wins over a fixed answer, which every kind may have beside it. */
export function kindOf(definition: Definition): ToolKind {
  const found = TOOL_KINDS.find((kind) => kind !== "staticResponse" && definition[kind] !== undefined);
  return found ?? "staticResponse";
}

export interface ToolDraft {
  readonly name: string;
  readonly definition: Definition;
}

export const NEW_TOOL: ToolDraft = {
  name: "",
  definition: { description: "", http: { baseUrlPattern: "https://", httpMethod: "GET" } },
};

export function draftOf({ name, definition }: Tool): ToolDraft {
  return { name, definition };
}

/** Keeps parameters and texts; where they go is not known to kinds other than `http`. */
export function withKind(definition: Definition, kind: ToolKind): Definition {
  const { http, client: _client, dataConnection: _data, mcp, staticResponse, ...rest } = definition;
  const kept = kind === "http" ? rest : withoutLocations(rest);
  const implementations: Readonly<Record<ToolKind, Definition>> = {
    http: { http: http ?? { baseUrlPattern: "https://", httpMethod: "GET" } },
    client: { client: {} },
    dataConnection: { dataConnection: {} },
    mcp: { mcp: mcp ?? { serverUrl: "https://" } },
    staticResponse: { staticResponse: staticResponse ?? { responseText: "" } },
  };
  return { ...kept, ...implementations[kind] };
}

function withoutLocations(definition: Definition): Definition {
  const { dynamicParameters, staticParameters, automaticParameters } = definition;
  return {
    ...definition,
    dynamicParameters: dynamicParameters?.map((parameter) => ({ ...parameter, location: undefined })),
    staticParameters: staticParameters?.map((parameter) => ({ ...parameter, location: undefined })),
    automaticParameters: automaticParameters?.map((parameter) => ({ ...parameter, location: undefined })),
  };
}

export type DynamicParameter = NonNullable<Definition["dynamicParameters"]>[number];
export type StaticParameter = NonNullable<Definition["staticParameters"]>[number];
export type AutomaticParameter = NonNullable<Definition["automaticParameters"]>[number];

/** Texts that are empty are left out of what is sent. */
export function given(text: string): string | undefined {
  return text.trim() === "" ? undefined : text;
}

/** What a fixed value is written as: texts as they are, unless they would be read as something else. */
export function valueText(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string" && typeof readValue(value) === "string" && !value.startsWith('"'))
    return value;
  return JSON.stringify(value);
}

/** JSON where it is JSON, such as `5`, `true` or `"5"`; any other text is itself. */
export function readValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

const SIMPLE_KEYS = ["type", "description", "enum"];
export const SCHEMA_TYPES = ["string", "number", "integer", "boolean"] as const;

/** What the form of a parameter can show without a view of its whole schema; null: it says more than that. */
export interface SimpleSchema {
  readonly type: (typeof SCHEMA_TYPES)[number];
  readonly description: string;
  /** Comma-separated; empty: any. */
  readonly choices: string;
}

export function simpleSchemaOf(schema: Readonly<Record<string, unknown>> | undefined): SimpleSchema | null {
  if (schema === undefined) return { type: "string", description: "", choices: "" };
  const { type = "string", description = "", enum: choices = [] } = schema;
  const known = SCHEMA_TYPES.find((each) => each === type);
  const texts =
    Array.isArray(choices) && choices.every((each) => typeof each === "string" && !each.includes(","));
  if (known === undefined || typeof description !== "string" || !texts) return null;
  if (Object.keys(schema).some((key) => !SIMPLE_KEYS.includes(key))) return null;
  return { type: known, description, choices: choices.join(", ") };
}

export function schemaOf({ type, description, choices }: SimpleSchema): Record<string, unknown> {
  const list = choices
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
  return {
    type,
    ...(given(description) === undefined ? {} : { description }),
    ...(type === "string" && list.length > 0 ? { enum: list } : {}),
  };
}
