/** A tool in the form: the document itself, so that fields without a control are not lost. */

import type { BaseToolDefinition, Tool } from "@parley/schema";

export type Definition = BaseToolDefinition;

export const TOOL_KINDS = ["http", "client", "dataConnection", "staticResponse", "mcp"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

export const KIND_NAMES: Readonly<Record<ToolKind, string>> = {
  http: "HTTP",
  client: "Client",
  dataConnection: "Data connection",
  staticResponse: "Fixed result",
  mcp: "MCP server",
};

export const KIND_NOTES: Readonly<Record<ToolKind, string>> = {
  http: "Sends an HTTP request to your URL.",
  client: "Runs in the client of the call, such as a web page or an app.",
  dataConnection: "Runs in the program at the data connection of the call.",
  staticResponse: "Always returns the same text to the model.",
  mcp: "Uses tools of a server that supports the Model Context Protocol (MCP).",
};

/** An implementation takes precedence over a fixed result, which every kind can also have. */
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

/** Keeps parameters and texts. Only `http` has locations of parameters. */
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

/** Empty texts are not sent. */
export function given(text: string): string | undefined {
  return text.trim() === "" ? undefined : text;
}

/** Shows a fixed value: texts unchanged, in quotes if they would be read as JSON. */
export function valueText(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string" && typeof readValue(value) === "string" && !value.startsWith('"'))
    return value;
  return JSON.stringify(value);
}

/** Parses JSON such as `5`, `true` or `"5"`; any other text stays as it is. */
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

/** The simple form of a parameter's schema; null if the schema says more. */
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
