/**
 * Compiles one selected tool and its definition into the tool of a stage: parameters sorted by who gives
 * their values, credentials in their places, and the record of it that may be shown.
 */

import {
  DEFAULT_TOOL_TIMEOUT,
  formatDurationMs,
  MODEL_TOOL_NAME_PATTERN,
  parseDurationMs,
} from "@parley/schema";
import type { BaseToolDefinition, CallTool, FieldError, Reaction, SelectedTool } from "@parley/schema";
import { faultField } from "./context-schema.ts";
import type { JsonSchema, SchemaFault } from "./context-schema.ts";
import type { BuiltInTool, KnownValue, ToolImplementation, ToolPlan } from "./tool-plan.ts";
import { parametersOf, placedParameters } from "./tool-parameters.ts";
import type { PlacedParameters } from "./tool-parameters.ts";
import { securityOf } from "./tool-security.ts";
import type { ToolSecurity } from "./tool-security.ts";

/** A tool as its MCP server lists it. */
export interface McpServerTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface FoundTool {
  readonly selection: SelectedTool;
  /** Path of the selection in the request, such as `selectedTools.0`. */
  readonly field: string;
  readonly definition: BaseToolDefinition;
  /** Null for a tool that was defined in place, like the name. */
  readonly toolId: string | null;
  readonly recordName: string | null;
  /** Null: it does not run inside the service. */
  readonly builtIn: BuiltInTool | null;
  /** Null: not a tool of an MCP server, or its definition says everything. */
  readonly mcpTool: McpServerTool | null;
}

export interface CompiledTool {
  readonly plan: ToolPlan;
  /** For listings: without credentials. */
  readonly listed: CallTool;
}

export interface ToolGround {
  /** Token of the call; sent to tools that require it. Secret. */
  readonly callToken: string;
  readonly newId: () => string;
  /** What is wrong with the schema of the tool's parameters, see `parameterSchema`. */
  readonly schemaFaults: (tool: FoundTool) => readonly SchemaFault[];
}

/** Names of an MCP server may have characters that a model cannot say; at most 64 count (D138). */
const NOT_IN_A_NAME = /[^a-zA-Z0-9_-]/g;
const MAX_NAME_LENGTH = 64;

/** The name by which the model calls it. */
export function modelNameOf({ selection, definition, recordName, mcpTool }: FoundTool): string {
  if (selection.nameOverride !== undefined) return selection.nameOverride;
  // A definition without a tool's name stands for a whole server, whose tools have names of their own.
  if (mcpTool !== null && definition.mcp?.toolName === undefined) return mcpModelName(mcpTool.name);
  return definition.modelToolName ?? recordName ?? mcpModelName(definition.mcp?.toolName ?? "");
}

function mcpModelName(name: string): string {
  return name.replaceAll(NOT_IN_A_NAME, "_").slice(0, MAX_NAME_LENGTH);
}

/** Where the definition stands: in the selection, or behind the reference. */
export function definitionField({ selection, field }: FoundTool): string {
  if (selection.temporaryTool !== undefined) return `${field}.temporaryTool`;
  return `${field}.${selection.toolId === undefined ? "toolName" : "toolId"}`;
}

/** The schema of the values that a model gives, which is checked before the tool is compiled. */
export function parameterSchema(tool: FoundTool): JsonSchema {
  return placedIn(tool).placed.schema;
}

function placedIn({ selection, definition, mcpTool }: FoundTool): {
  readonly placed: PlacedParameters;
  /** Null: it is not called by HTTP. */
  readonly method: string | null;
} {
  const parameters = parametersOf(definition, mcpTool?.inputSchema ?? null);
  const method = definition.http === undefined ? null : httpMethod(definition.http.httpMethod, parameters);
  const overrides = selection.parameterOverrides ?? {};
  const schema = mcpTool?.inputSchema ?? null;
  return { placed: placedParameters(parameters, definition, overrides, method, schema), method };
}

export function compileTool(
  tool: FoundTool,
  ground: ToolGround,
): { readonly compiled: CompiledTool } | { readonly errors: readonly FieldError[] } {
  const { selection, field, definition } = tool;
  const errors: FieldError[] = [];
  const name = modelNameOf(tool);
  if (!MODEL_TOOL_NAME_PATTERN.test(name)) {
    const wanted = "must be given and be 1 to 64 letters, digits, underscores or hyphens";
    errors.push({ field: `${field}.nameOverride`, message: `${wanted}; ${JSON.stringify(name)} is not` });
  }
  const overrides = selection.parameterOverrides ?? {};
  for (const required of definition.requirements?.requiredParameterOverrides ?? []) {
    if (!Object.hasOwn(overrides, required)) {
      const message = `must give ${required}, because the tool requires it`;
      errors.push({ field: `${field}.parameterOverrides`, message });
    }
  }
  const { placed, method } = placedIn(tool);
  for (const fault of ground.schemaFaults(tool)) {
    const place = faultField("parameters", fault);
    errors.push({
      field: definitionField(tool),
      message: `has ${place} that cannot be used: it ${fault.message}`,
    });
  }
  const security = method === null ? NO_SECURITY : securityOf(definition, selection);
  if ("problem" in security) {
    const { problem } = security;
    errors.push({ field: `${field}.${problem.field}`, message: problem.message });
    return { errors };
  }
  if (errors.length > 0) return { errors };
  return { compiled: compiledTool(tool, name, placed, method, security, ground) };
}

const NO_SECURITY: ToolSecurity = { credentials: [], tokenScopes: null };

/** POST when something goes into the body, also for want of a place of its own (D137). */
function httpMethod(given: string | undefined, parameters: ReturnType<typeof parametersOf>): string {
  if (given !== undefined) return given.toUpperCase();
  return parameters.some(({ location }) => location === null || location === "body") ? "POST" : "GET";
}

function compiledTool(
  tool: FoundTool,
  name: string,
  placed: PlacedParameters,
  method: string | null,
  security: ToolSecurity,
  ground: ToolGround,
): CompiledTool {
  const { selection, definition, toolId, mcpTool } = tool;
  const { staticResponse, defaultReaction = "AGENT_REACTION_SPEAKS" } = definition;
  const description = selection.descriptionOverride ?? definition.description ?? mcpTool?.description ?? "";
  const timeoutMs = Math.max(1, Math.round(parseDurationMs(definition.timeout ?? DEFAULT_TOOL_TIMEOUT)));
  const precomputable = definition.precomputable ?? false;
  const callToolId = ground.newId();
  return {
    plan: {
      name,
      callToolId,
      toolId,
      description,
      parameters: placed.schema,
      dynamic: placed.dynamic.map(({ name: parameter, location }) => ({ name: parameter, location })),
      fixed: placed.fixed,
      automatic: placed.automatic.map(({ known, ...place }) => ({ ...place, known: KNOWN_VALUES[known] })),
      implementation: implementationOf(tool, method, security, ground.callToken),
      timeoutMs,
      precomputable,
      defaultReaction: REACTIONS[defaultReaction],
      staticResponse: staticResponse === undefined ? null : responseText(staticResponse.responseText),
    },
    listed: {
      callToolId,
      toolId,
      name,
      definition: {
        description,
        ...placed.listed,
        timeout: formatDurationMs(timeoutMs),
        precomputable,
        ...listedImplementation(definition, method, security),
        defaultReaction,
        ...(staticResponse === undefined
          ? {}
          : { staticResponse: { responseText: responseText(staticResponse.responseText) } }),
      },
    },
  };
}

/** A result is never empty. */
function responseText(given: string | undefined): string {
  return given === undefined || given === "" ? "OK" : given;
}

function implementationOf(
  { definition, builtIn, mcpTool }: FoundTool,
  method: string | null,
  { credentials, tokenScopes }: ToolSecurity,
  callToken: string,
): ToolImplementation {
  if (builtIn !== null) return { kind: "builtIn", builtIn };
  const { http, mcp } = definition;
  if (http !== undefined && method !== null) {
    return {
      kind: "http",
      method,
      urlPattern: http.baseUrlPattern,
      credentials,
      callToken: tokenScopes === null ? null : callToken,
    };
  }
  if (mcp !== undefined) {
    const toolName = mcpTool?.name ?? mcp.toolName ?? "";
    return { kind: "mcp", serverUrl: mcp.serverUrl, headers: mcp.headers ?? {}, toolName };
  }
  if (definition.client !== undefined) return { kind: "client" };
  return definition.dataConnection === undefined ? { kind: "static" } : { kind: "dataConnection" };
}

function listedImplementation(
  { http, client, dataConnection }: BaseToolDefinition,
  method: string | null,
  { credentials, tokenScopes }: ToolSecurity,
): Pick<CallTool["definition"], "http" | "client" | "dataConnection"> {
  const named = (place: "header" | "query") =>
    credentials.filter((credential) => credential.place === place).map(({ name }) => name);
  return {
    ...(http === undefined || method === null
      ? {}
      : {
          http: {
            baseUrlPattern: http.baseUrlPattern,
            httpMethod: method,
            authHeaders: named("header"),
            authQueryParams: named("query"),
            callTokenScopes: [...(tokenScopes ?? [])],
          },
        }),
    ...(client === undefined ? {} : { client: {} }),
    ...(dataConnection === undefined ? {} : { dataConnection: {} }),
  };
}

const REACTIONS: Readonly<Record<NonNullable<BaseToolDefinition["defaultReaction"]>, Reaction>> = {
  AGENT_REACTION_SPEAKS: "speaks",
  AGENT_REACTION_LISTENS: "listens",
  AGENT_REACTION_SPEAKS_ONCE: "speaks-once",
};

type WireKnownValue = NonNullable<BaseToolDefinition["automaticParameters"]>[number]["knownValue"];

const KNOWN_VALUES: Readonly<Record<WireKnownValue, KnownValue>> = {
  KNOWN_PARAM_CALL_ID: "callId",
  KNOWN_PARAM_CONVERSATION_HISTORY: "conversationHistory",
  KNOWN_PARAM_OUTPUT_SAMPLE_RATE: "outputSampleRate",
  KNOWN_PARAM_CALL_STATE: "callState",
  KNOWN_PARAM_CALL_STAGE_ID: "callStageId",
  KNOWN_PARAM_THREAD_ID: "threadId",
  KNOWN_PARAM_THREAD_STATES: "threadStates",
  KNOWN_PARAM_CALL_METADATA: "callMetadata",
};
