/** Tools that the agent can call. */

import { z } from "zod";
import { asList, asObject, asText, withRule } from "../values/check.ts";
import { boundedDuration } from "../values/duration.ts";
import { FreeObject, NullableValue, template, Uuid, writeOnly } from "../values/fields.ts";
import { headerMap, url } from "../values/http-parts.ts";
import { oneOf, withExactlyOne } from "../values/one-of.ts";
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

/** Limits what one tool adds to the model's input. */
const MAX_PARAMETERS = 64;
const MAX_DESCRIPTION_LENGTH = 16_384;
export const DEFAULT_TOOL_TIMEOUT = "2.5s";
const MAX_TOOL_TIMEOUT_MS = 40_000;

const parameterName = z.string().min(1).max(128);
const location = ParameterLocation.optional();

const DynamicParameter = z.strictObject({
  name: parameterName,
  location,
  schema: FreeObject.optional().describe("JSON Schema. Absent: any text."),
  required: z.boolean().optional(),
});

const StaticParameter = z.strictObject({
  name: parameterName,
  location,
  value: template(NullableValue).optional().describe("Absent: nothing is sent. Null is sent as null."),
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

/** One way to authenticate. The names in `requirements` are the names of the tokens in `authTokens`. */
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

/** Case is ignored; parses to upper case. */
const HttpMethod = z
  .string()
  .overwrite((method) => method.toUpperCase())
  .refine((method) => HTTP_METHODS.some((known) => known === method), {
    error: `must be one of ${HTTP_METHODS.join(", ")}`,
  })
  .meta({ description: `One of ${HTTP_METHODS.join(", ")}; case is ignored.` });

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
        .describe("`{name}` is replaced by the PATH parameter of that name."),
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

/** A tool: what the model sees, its parameters and where it runs. */
export const BaseToolDefinition = withRule(definitionFields, checkDefinition);
export type BaseToolDefinition = z.output<typeof BaseToolDefinition>;

/** The address in a definition, and the field that contains it; null if the tool has no address. */
export interface ToolTarget {
  readonly member: "http.baseUrlPattern" | "mcp.serverUrl";
  readonly url: string;
}

/** A placeholder in the host becomes `x`; the real host is checked when it is known. */
export function targetOfTool({ http, mcp }: Pick<BaseToolDefinition, "http" | "mcp">): ToolTarget | null {
  if (http !== undefined)
    return { member: "http.baseUrlPattern", url: withoutPlaceholders(http.baseUrlPattern) };
  return mcp === undefined ? null : { member: "mcp.serverUrl", url: mcp.serverUrl };
}

/** A tool of a call or agent: a stored tool by id or name, or a tool defined in place. */
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
        .describe("Fixed values for parameters of any kind. The model does not see these parameters."),
      transitionId: z.string().optional().describe("Stored and returned unchanged."),
    }),
    ["toolId", "toolName", "temporaryTool"],
  ),
  checkSelection,
);
export type SelectedTool = z.output<typeof SelectedTool>;

/** Limits what the tools add to the model's input. */
export const MAX_SELECTED_TOOLS = 128;

/** What the document says about the name that the model sees, and the field that says it. */
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

/** The tools of one call. Names that come from stored tools are compared when the call is created. */
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
