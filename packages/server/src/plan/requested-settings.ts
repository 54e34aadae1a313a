/**
 * The requested settings of a call: the request alone, or an agent's filled template with the request over it. Stores
 * where each value came from, so that a refusal names the field the reader can change.
 */

import type { CallTemplate, SelectedTool, StartAgentCallRequest, StartCallRequest } from "@parley/schema";

export interface RequestedSettings {
  readonly values: RequestedValues;
  readonly tools: readonly RequestedTool[];
  /** Where a value stands: `voice`, or `callTemplate.voice` when it is the agent's. */
  readonly fieldOf: (key: keyof RequestedValues) => string;
}

export type RequestedValues = Omit<StartCallRequest, "selectedTools">;

export interface RequestedTool {
  readonly tool: SelectedTool;
  /** Such as `selectedTools.0` or `toolOverrides.add.1`. */
  readonly field: string;
  /** Model-facing names that are removed again; unset: the tool stays. */
  readonly removable?: ReadonlySet<string>;
}

export function requestedSettings(request: StartCallRequest): RequestedSettings {
  const { selectedTools = [], ...values } = request;
  return {
    values,
    tools: selectedTools.map((tool, index) => ({ tool, field: `selectedTools.${index}` })),
    fieldOf: (key) => key,
  };
}

/** Settings that a request may give for an agent's call; each replaces the template's as a whole. */
const REPLACEABLE = [
  "initialMessages",
  "initialState",
  "metadata",
  "medium",
  "joinTimeout",
  "maxDuration",
  "recordingEnabled",
  "clientMessages",
  "initialOutputMedium",
  "firstSpeakerSettings",
  "dataConnection",
  "experimentalSettings",
  "callbacks",
  "retentionPolicy",
  "sharedSecrets",
] as const satisfies readonly (keyof StartAgentCallRequest & keyof RequestedValues)[];

/** Settings of a template that are settings of a call; the rest describes the template itself. */
const TEMPLATE_KEYS = [
  "medium",
  "initialOutputMedium",
  "joinTimeout",
  "maxDuration",
  "vadSettings",
  "recordingEnabled",
  "clientMessages",
  "firstSpeakerSettings",
  "systemPrompt",
  "temperature",
  "model",
  "voice",
  "externalVoice",
  "voiceOverrides",
  "languageHint",
  "timeExceededMessage",
  "inactivityMessages",
  "dataConnection",
  "sharedSecrets",
  "retentionPolicy",
] as const satisfies readonly (keyof CallTemplate & keyof RequestedValues)[];

/** The template's texts are filled already. */
export function requestedAgentSettings(
  template: CallTemplate,
  request: StartAgentCallRequest,
): RequestedSettings {
  const values = new Map<string, unknown>();
  const ofRequest = new Set<string>();
  for (const key of TEMPLATE_KEYS) if (template[key] !== undefined) values.set(key, template[key]);
  const put = (key: string, value: unknown): void => {
    values.set(key, value);
    ofRequest.add(key);
  };
  for (const key of REPLACEABLE) if (request[key] !== undefined) put(key, request[key]);
  if (request.voice !== undefined) {
    for (const key of ["externalVoice", "voiceOverrides"]) values.delete(key);
    put("voice", request.voice);
  }
  if (request.voiceOverrides !== undefined) put("voiceOverrides", request.voiceOverrides);
  const { transcriptHints } = template;
  const { experimentalSettings = {} } = request;
  // Calls have them there, so that a record shows what its recogniser was told.
  if (transcriptHints !== undefined && experimentalSettings["transcriptHints"] === undefined)
    values.set("experimentalSettings", { ...experimentalSettings, transcriptHints });
  return {
    values: Object.fromEntries(values),
    tools: toolsOfAgent(template.selectedTools ?? [], request.toolOverrides ?? {}),
    fieldOf: (key) => (ofRequest.has(key) || !values.has(key) ? key : `callTemplate.${key}`),
  };
}

type ToolOverrides = NonNullable<StartAgentCallRequest["toolOverrides"]>;

/** Order: `removeAll`, `remove`, `add`. Names that only the stored tool has are compared once it is loaded. */
function toolsOfAgent(own: readonly SelectedTool[], overrides: ToolOverrides): RequestedTool[] {
  const removed = new Set(overrides.remove ?? []);
  const kept = own
    .map((tool, index) => ({ tool, field: `callTemplate.selectedTools.${index}`, removable: removed }))
    .filter(({ tool }) => overrides.removeAll !== true && !removed.has(ownModelName(tool) ?? ""));
  const added = (overrides.add ?? []).map((tool, index) => ({ tool, field: `toolOverrides.add.${index}` }));
  return [...kept, ...added];
}

/** The model-facing name where the selection alone determines it. */
function ownModelName(tool: SelectedTool): string | null {
  return tool.nameOverride ?? tool.temporaryTool?.modelToolName ?? null;
}
