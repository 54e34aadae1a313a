/** A call that continues another one: unset settings are inherited from it (D45). */

import { formatDurationMs, MAX_INITIAL_MESSAGES } from "@parley/schema";
import type { InitialMessage, StartCallRequest } from "@parley/schema";
import type { RequestedSettings, RequestedValues } from "./requested-settings.ts";
import type { CallSettings, StageSettings } from "./call-settings.ts";
import type { CompiledTool } from "./compile-tools.ts";
import type { StagePlan, VadPlan } from "./plan.ts";
import type { ToolPlan } from "./tool-plan.ts";

export interface PriorCall {
  /** Settings of the call, with its secrets. */
  readonly settings: CallSettings;
  readonly metadata: Readonly<Record<string, string>>;
  /** Settings of its last stage, with their secrets. */
  readonly stageSettings: StageSettings;
  /** Null: its version's plans can no longer be read; then no tools are inherited. */
  readonly plans: {
    readonly templateContext: Readonly<Record<string, unknown>>;
    readonly firstStage: StagePlan;
    readonly lastStage: StagePlan;
  } | null;
  /** The newest ones of its last stage in order, with what the stage inherited. */
  readonly messages: readonly InitialMessage[];
}

/** The whole request; the tools of the prior call are compiled already and not part of it. */
export function requestedAfter(prior: PriorCall, request: StartCallRequest): RequestedSettings {
  const { selectedTools = [], ...own } = request;
  const values = new Map(Object.entries(priorValues(prior)));
  // Whichever way the request chooses a voice or a first speaker, it replaces all that belongs to the prior choice.
  if (own.voice !== undefined || own.externalVoice !== undefined) {
    for (const key of ["voice", "externalVoice", "voiceOverrides"]) values.delete(key);
  }
  if (own.firstSpeaker !== undefined) values.delete("firstSpeakerSettings");
  for (const [key, value] of Object.entries(own)) if (value !== undefined) values.set(key, value);
  return {
    values: Object.fromEntries(values),
    tools: selectedTools.map((tool, index) => ({ tool, field: `selectedTools.${index}` })),
    // An invalid inherited value is fixed by giving another one here.
    fieldOf: (key) => key,
  };
}

function priorValues({ settings, stageSettings, metadata, plans, messages }: PriorCall): RequestedValues {
  const { sharedSecrets, vadSettings } = settings;
  const changedVad =
    plans !== null && JSON.stringify(plans.firstStage.vad) !== JSON.stringify(plans.lastStage.vad);
  return definedOnly({
    ...stageSettings,
    medium: settings.medium,
    joinTimeout: settings.joinTimeout,
    maxDuration: settings.maxDuration,
    recordingEnabled: settings.recordingEnabled,
    clientMessages: settings.clientMessages,
    firstSpeakerSettings: settings.firstSpeakerSettings,
    initialOutputMedium: settings.initialOutputMedium,
    transcriptOptional: settings.transcriptOptional,
    vadSettings: changedVad && plans !== null ? vadSettingsOf(plans.lastStage.vad) : vadSettings,
    dataConnection: settings.dataConnectionConfig,
    callbacks: settings.callbacks,
    retentionPolicy: settings.retentionPolicy,
    sharedSecrets,
    metadata,
    initialMessages: historyOf(messages),
  });
}

/** Settings that are unset are null on record. */
function definedOnly(values: Readonly<Record<string, unknown>>): RequestedValues {
  const defined = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(defined);
}

function vadSettingsOf(vad: VadPlan): NonNullable<CallSettings["vadSettings"]> {
  return {
    frameActivationThreshold: vad.frameActivationThreshold,
    turnEndpointDelay: formatDurationMs(vad.turnEndpointDelayMs),
    minimumTurnDuration: formatDurationMs(vad.minimumTurnDurationMs),
    minimumInterruptionDuration: formatDurationMs(vad.minimumInterruptionDurationMs),
  };
}

/** The newest messages, as many as a call may begin with, without results whose calls are not among them. */
export function historyOf(messages: readonly InitialMessage[]): InitialMessage[] {
  const called = new Set<string>();
  return messages.slice(-MAX_INITIAL_MESSAGES).filter(({ role, invocationId }) => {
    if (role === "MESSAGE_ROLE_TOOL_CALL" && invocationId !== undefined) called.add(invocationId);
    return role !== "MESSAGE_ROLE_TOOL_RESULT" || invocationId === undefined || called.has(invocationId);
  });
}

/** The tools of the prior call's last stage for a call with another token and listing. */
export function toolsAfter(
  { plans }: PriorCall,
  ground: { readonly callToken: string; readonly newId: () => string },
): CompiledTool[] {
  if (plans === null) return [];
  const { tools, document } = plans.lastStage;
  return tools.flatMap((plan) => {
    const listed = document.tools.find(({ callToolId }) => callToolId === plan.callToolId);
    if (listed === undefined) return [];
    const callToolId = ground.newId();
    return [
      {
        plan: { ...plan, callToolId, implementation: withToken(plan.implementation, ground.callToken) },
        listed: { ...listed, callToolId },
      },
    ];
  });
}

function withToken(
  implementation: ToolPlan["implementation"],
  callToken: string,
): ToolPlan["implementation"] {
  if (implementation.kind !== "http" || implementation.callToken === null) return implementation;
  return { ...implementation, callToken };
}
