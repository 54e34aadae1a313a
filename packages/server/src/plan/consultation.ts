/**
 * A conversation of the same agent with the person who is to take over a caller: the settings of the caller's call with
 * other instructions, and two tools by which the person's answer is known.
 */

import type { BaseToolDefinition, StartCallRequest } from "@parley/schema";
import { compileTool, type CompiledTool } from "./compile-tools.ts";
import { requestedAfter, type PriorCall } from "./prior-call.ts";
import type { RequestedSettings, RequestedValues } from "./requested-settings.ts";
import type { ConsultationTool } from "./tool-plan.ts";

/** Of the caller's call; the rest, such as its messages, its data connection and its webhooks, is the caller's alone. */
const INHERITED = [
  "model",
  "voice",
  "externalVoice",
  "voiceOverrides",
  "languageHint",
  "temperature",
  "vadSettings",
  "recordingEnabled",
  "retentionPolicy",
  "experimentalSettings",
] as const satisfies readonly (keyof RequestedValues)[];

export function requestedConsultation(prior: PriorCall, request: StartCallRequest): RequestedSettings {
  const { values } = requestedAfter(prior, {});
  const inherited = INHERITED.flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]]));
  return {
    values: { ...(Object.fromEntries(inherited) as RequestedValues), ...request },
    tools: [],
    fieldOf: (key) => key,
  };
}

const body = "PARAMETER_LOCATION_BODY";

const DEFINITIONS: Readonly<Record<ConsultationTool, BaseToolDefinition>> = {
  acceptTransfer: {
    modelToolName: "acceptTransfer",
    description:
      "Connects the person you are talking to with the caller who is on hold, and leaves. Use it only when the person " +
      "has said that they take the call.",
  },
  refuseTransfer: {
    modelToolName: "refuseTransfer",
    description:
      "Ends this conversation and returns to the caller. Use it when the person does not take the call, when it is an " +
      "answering machine, or when it is the wrong person.",
    dynamicParameters: [
      {
        name: "reason",
        location: body,
        schema: { type: "string", description: "Why, in one sentence; the caller may be told." },
        required: false,
      },
    ],
  },
};

export function consultationTools(ground: {
  readonly callToken: string;
  readonly newId: () => string;
}): CompiledTool[] {
  return (Object.keys(DEFINITIONS) as ConsultationTool[]).map((builtIn) => {
    const tool = {
      selection: { toolName: builtIn },
      field: builtIn,
      definition: DEFINITIONS[builtIn],
      toolId: null,
      recordName: builtIn,
      builtIn,
      mcpTool: null,
    };
    const compiled = compileTool(tool, { ...ground, schemaFaults: () => [] });
    if ("errors" in compiled) throw new Error(`${builtIn}: ${JSON.stringify(compiled.errors)}`);
    return compiled.compiled;
  });
}
