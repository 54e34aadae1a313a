/** Compiles a checked call: its plan, and the record of it that is stored. */

import { mediumKindOf, type InitialMessage } from "@parley/schema";
import type { Resolved } from "../../plan/availability.ts";
import { settingsOf, stageSettingsOf } from "../../plan/call-settings.ts";
import type { DurationLimits } from "../../plan/call-settings.ts";
import { compileCallPlan, initialMessage } from "../../plan/compile-plan.ts";
import type { CompiledTool } from "../../plan/compile-tools.ts";
import type { CallPlan } from "../../plan/plan.ts";
import { recognitionPlan } from "../../plan/recognition-plan.ts";
import type { TurnTakingSettings } from "../../plan/turn-taking.ts";
import { storedPlan } from "../../plan/stored-plan.ts";
import type { NewCall } from "../../store/calls/calls.ts";
import type { NewMessage } from "../../store/calls/messages.ts";
import type { CreateCallInput } from "../api.ts";
import type { RequestedCall } from "./requested-call.ts";

export interface CompileDeps {
  readonly limits: DurationLimits;
  readonly nodeId: string;
  /** Recognisers that `experimentalSettings.transcriptionProvider` may name. */
  readonly recognisers: () => readonly string[];
  readonly turnTaking: TurnTakingSettings;
  readonly randomId: () => string;
  /** At least 128 random bits, URL-safe. */
  readonly randomToken: () => string;
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
}

export interface CompiledCall {
  readonly plan: CallPlan;
  readonly record: NewCall;
}

export interface CheckedCall extends RequestedCall {
  readonly names: Resolved["names"];
  readonly voiceId: string | null;
  readonly warnings: Resolved["warnings"];
  readonly tools: readonly CompiledTool[];
  readonly callToken: string;
}

export function compileCall(
  checked: CheckedCall,
  { accountId, query, traceParent, requestContext, incoming, consultation }: CreateCallInput,
  deps: CompileDeps,
): CompiledCall {
  const { requested, names, voiceId, warnings, tools, agent, templateContext, callToken } = checked;
  const callId = incoming?.callId ?? deps.randomId();
  const stageId = deps.randomId();
  const createdAtMs = deps.nowMs();
  const settings = settingsOf(requested, deps.limits);
  const { initialMessages = [], metadata = {} } = requested.values;
  const recognition = recognitionPlan(requested.values.experimentalSettings, deps.recognisers());
  const plan = compileCallPlan({
    callId,
    accountId,
    agentId: agent?.agentId ?? null,
    stageId,
    settings,
    names,
    tools,
    initialMessages,
    metadata,
    templateContext,
    callToken,
    recognition,
    warnings: recognition.warnings,
    stageWarnings: warnings,
    greetingPrompt: query.enableGreetingPrompt ?? true,
    turnTaking: deps.turnTaking,
    traceParent,
    isIncoming: incoming !== undefined,
  });
  return {
    plan,
    record: {
      callId,
      agentId: agent?.agentId ?? null,
      agentRevisionId: agent?.revisionId ?? null,
      nodeId: deps.nodeId,
      createdAtMs,
      joinDeadlineMs: createdAtMs + plan.joinTimeoutMs,
      mediumKind: mediumKindOf(settings.medium),
      voiceId,
      joinToken: deps.randomToken(),
      settings,
      plan: storedPlan(plan),
      metadata,
      requestContext: requestContext ?? null,
      isOfConsole: query.madeInConsole ?? false,
      consultationOf: consultation?.callId,
      stage: { stageId, settings: stageSettingsOf(settings), tools: tools.map(({ listed }) => listed) },
      initialMessages: initialMessages.map(messageRecord),
    },
  };
}

function messageRecord(message: InitialMessage, index: number): NewMessage {
  const { metadata = {} } = message;
  return {
    index,
    ...initialMessage(message),
    errorDetails: message.errorDetails ?? null,
    callState: message.callState ?? null,
    timespan: null,
    wallClockTimespan: null,
    // Values that are not strings are stored as their JSON.
    metadata: Object.fromEntries(
      Object.entries(metadata).map(([key, value]) => [
        key,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
    ),
  };
}
