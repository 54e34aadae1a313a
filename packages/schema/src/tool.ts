/** Tools that the agent may call. */

import { z } from "zod";
import { asList, asObject, asText, withRule } from "./check.ts";
import { boundedDuration } from "./duration.ts";
import { FreeObject, FreeValue, template, Uuid, writeOnly } from "./fields.ts";
import { headerMap, url } from "./http-parts.ts";
import { oneOf, withExactlyOne } from "./one-of.ts";
import { checkDefinition, checkSelection, withoutPlaceholders } from "./tool-rules.ts";

export const MODEL_TOOL_NAME_PATTERN = /^[a-zA-Z0-9_-]{1,64}$/;

/** The name by which the model calls a tool. */
export const ModelToolName = z.string().regex(MODEL_TOOL_NAME_PATTERN, {
  error: "must be 1 to 64 letters, digits, underscores or hyphens",
});

export const ParameterLocation = z.enum([
  "PARAMETER_LOCATION_QUERY",
  "PARAMETER_LOCATION_PATH",
  "PARAMETER_LOCATION_HEADER",
  "PARAMETER_LOCATION_BODY",
]);
export type ParameterLocation = z.output<typeof ParameterLocation>;

export const KnownParameter = z.enum([
  "KNOWN_PARAM_CALL_ID",
  "KNOWN_PARAM_CONVERSATION_HISTORY",
  "KNOWN_PARAM_OUTPUT_SAMPLE_RATE",
  "KNOWN_PARAM_CALL_STATE",
  "KNOWN_PARAM_CALL_STAGE_ID",
  "KNOWN_PARAM_THREAD_ID",
  "KNOWN_PARAM_THREAD_STATES",
  "KNOWN_PARAM_CALL_METADATA",
]);
export type KnownParameter = z.output<typeof KnownParameter>;

export const AgentReaction = z.enum([
  "AGENT_REACTION_SPEAKS",
  "AGENT_REACTION_LISTENS",
  "AGENT_REACTION_SPEAKS_ONCE",
]);
export type AgentReaction = z.output<typeof AgentReaction>;

/** Bounds what one tool puts before the model. */
const MAX_PARAMETERS = 64;
const MAX_DESCRIPTION_LENGTH = 16_384;
export const DEFAULT_TOOL_TIMEOUT = "2.5s";
const MAX_TOOL_TIMEOUT_MS = 40_000;

const parameterName = z.string().min(1).max(128);
const location = ParameterLocation.optional();

const DynamicParameter = z.strictObject({
  name: parameterName,
  location,
  schema: FreeObject.optional().describe("JSON Schema; absent: any text."),
  required: z.boolean().optional(),
});

const StaticParameter = z.strictObject({
  name: parameterName,
  location,
  value: template(FreeValue).optional(),
});

const AutomaticParameter = z.strictObject({
  name: parameterName,
  location,
  knownValue: KnownParameter,
});

const SecurityRequirement = oneOf({
  queryApiKey: z.strictObject({ name: z.string().min(1) }),
  headerApiKey: z.strictObject({ name: z.string().min(1) }),
  httpAuth: z.strictObject({ scheme: z.string().min(1) }),
});

/** One way to authenticate. The names of `requirements` are those of the tokens in `authTokens`. */
const SecurityRequirements = z.strictObject({
  requirements: z.record(z.string(), SecurityRequirement).optional(),
  serviceCallTokenRequirement: z.strictObject({ scopes: z.array(z.string()).optional() }).optional(),
});

const ToolRequirements = z.strictObject({
  httpSecurityOptions: z
    .strictObject({ options: z.array(SecurityRequirements).max(16).optional() })
    .optional(),
  requiredParameterOverrides: z.array(z.string()).max(MAX_PARAMETERS).optional(),
});

const HTTP_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;

/** Taken in any case; parses to capitals. */
const HttpMethod = z
  .string()
  .overwrite((method) => method.toUpperCase())
  .refine((method) => HTTP_METHODS.some((known) => known === method), {
    error: `must be one of ${HTTP_METHODS.join(", ")}`,
  })
  .meta({ description: `One of ${HTTP_METHODS.join(", ")}, in any case.` });

const definitionFields = z.strictObject({
  modelToolName: ModelToolName.optional(),
  description: template(z.string().max(MAX_DESCRIPTION_LENGTH)).optional(),
  dynamicParameters: z.array(DynamicParameter).max(MAX_PARAMETERS).optional(),
  staticParameters: z.array(StaticParameter).max(MAX_PARAMETERS).optional(),
  automaticParameters: z.array(AutomaticParameter).max(MAX_PARAMETERS).optional(),
  requirements: ToolRequirements.optional(),
  timeout: boundedDuration({
    exclusiveMin: true,
    maxMs: MAX_TOOL_TIMEOUT_MS,
    default: DEFAULT_TOOL_TIMEOUT,
  }).optional(),
  precomputable: z.boolean().meta({ default: false }).optional(),
  http: z
    .strictObject({
      baseUrlPattern: z
        .string()
        .min(1)
        .max(2048)
        .describe("`{name}` stands for the PATH parameter of that name."),
      httpMethod: HttpMethod.optional(),
    })
    .optional(),
  client: z.strictObject({}).optional(),
  dataConnection: z.strictObject({}).optional(),
  mcp: z
    .strictObject({
      serverUrl: url(["http", "https"]),
      toolName: z.string().min(1).optional().describe("Unset: all tools of the server."),
      headers: headerMap().optional(),
    })
    .optional(),
  defaultReaction: AgentReaction.meta({ default: "AGENT_REACTION_SPEAKS" }).optional(),
  staticResponse: z.strictObject({ responseText: z.string().optional() }).optional(),
});

/** A tool: how the model sees it, what it is given, and where it runs. */
export const BaseToolDefinition = withRule(definitionFields, checkDefinition);
export type BaseToolDefinition = z.output<typeof BaseToolDefinition>;

/** The address that a definition writes out, and the member that holds it; null: it is reached in another way. */
export interface ToolTarget {
  readonly member: "http.baseUrlPattern" | "mcp.serverUrl";
  readonly url: string;
}

/** A placeholder may stand in the host: `x` takes its place, for what it will be is judged when it is known. */
export function targetOfTool({ http, mcp }: Pick<BaseToolDefinition, "http" | "mcp">): ToolTarget | null {
  if (http !== undefined)
    return { member: "http.baseUrlPattern", url: withoutPlaceholders(http.baseUrlPattern) };
  return mcp === undefined ? null : { member: "mcp.serverUrl", url: mcp.serverUrl };
}

/** A tool of a call or agent: an existing one by id or name, or one defined in place. */
export const SelectedTool = withRule(
  withExactlyOne(
    z.strictObject({
      toolId: Uuid.optional(),
      toolName: z.string().min(1).optional(),
      temporaryTool: BaseToolDefinition.optional(),
      nameOverride: ModelToolName.optional(),
      descriptionOverride: template(z.string().max(MAX_DESCRIPTION_LENGTH)).optional(),
      authTokens: writeOnly(template(z.record(z.string(), z.string())).meta({ freeForm: true })).optional(),
      parameterOverrides: template(FreeObject)
        .optional()
        .describe("Fixed values for parameters of any kind, which are then hidden from the model."),
      transitionId: z.string().optional().describe("Stored and answered as it is."),
    }),
    ["toolId", "toolName", "temporaryTool"],
  ),
  checkSelection,
);
export type SelectedTool = z.output<typeof SelectedTool>;

/** Bounds what is put before the model. */
export const MAX_SELECTED_TOOLS = 128;

/** What the document tells of a selected tool's model-facing name, with the field that says so. */
function decidableName(tool: unknown): { readonly key: string; readonly field: readonly string[] } | null {
  const { nameOverride, temporaryTool, toolId, toolName } = asObject(tool) ?? {};
  const override = asText(nameOverride);
  if (override !== null) return { key: `name ${override}`, field: ["nameOverride"] };
  const own = asText(asObject(temporaryTool)?.["modelToolName"]);
  if (own !== null) return { key: `name ${own}`, field: ["temporaryTool", "modelToolName"] };
  const id = asText(toolId);
  if (id !== null) return { key: `id ${id.toLowerCase()}`, field: ["toolId"] };
  const record = asText(toolName);
  return record === null ? null : { key: `record ${record}`, field: ["toolName"] };
}

/** The tools of one call. Names that only a stored tool tells are compared when the call is created. */
export const SelectedTools = withRule(z.array(SelectedTool).max(MAX_SELECTED_TOOLS), (tools, report) => {
  const first = new Map<string, number>();
  asList(tools).forEach((tool, index) => {
    const name = decidableName(tool);
    if (name === null) return;
    const earlier = first.get(name.key);
    if (earlier === undefined) first.set(name.key, index);
    else report([index, ...name.field], `must be unique; entry ${earlier} has it already`);
  });
});
