/**
 * Makes a call: merges the agent's template and the request, checks everything that can be checked, compiles the plan,
 * stores the record and starts the call. Whatever fails, no record of a call that never lived stays behind.
 */

import type { CallTemplate, StartAgentCallRequest, StartCallRequest } from "@parley/schema";
import type { CallSettings } from "../call/call-settings.ts";
import type { CheckSchema, CheckValue } from "../call/context-schema.ts";
import type { CallPlan, TurnTakingSettings } from "../call/plan.ts";
import type { ParseTemplate } from "../call/template-text.ts";

export interface CreateCallInput {
  readonly accountId: string;
  /** Set for a call of an agent; `request` is then a StartAgentCallRequest. */
  readonly agentId: string | null;
  readonly request: StartCallRequest | StartAgentCallRequest;
  readonly query: {
    readonly enableGreetingPrompt?: boolean | undefined;
    readonly priorCallId?: string | undefined;
    readonly throttle?: string | undefined;
  };
}

/** What call creation needs of a stored agent; secrets of the template are opened. */
export interface AgentForCall {
  readonly agentId: string;
  readonly revisionId: string | null;
  readonly callTemplate: CallTemplate | null;
}

/** What is written for a new call, in one transaction with its first stage and its initial messages. */
export interface NewCallRecord {
  readonly callId: string;
  readonly accountId: string;
  readonly agentId: string | null;
  readonly agentRevisionId: string | null;
  readonly stageId: string;
  readonly createdAtMs: number;
  /** At least 128 random bits, URL-safe. */
  readonly joinToken: string;
  /** The settings of the Call resource after templates were filled. Secrets are still in their fields. */
  readonly settings: CallSettings;
  /** Compiled from `settings`; what a restart reads with `parsePlan`. */
  readonly plan: CallPlan;
}

export interface CallLimits {
  /** Calls of this process from creation to end; beyond it 503. */
  readonly concurrentCalls: number;
  /** Upper bounds that the deployment may lower (D40). */
  readonly joinTimeoutMs: number;
  readonly maxDurationMs: number;
}

/** A voice that `voice` may name, by either of its two texts; `voiceId` null when it has no id of its own. */
export interface KnownVoice {
  readonly voiceId: string | null;
  readonly name: string;
}

export interface CreateCallDeps {
  /** Null: no such agent in this account. */
  readonly loadAgent: (accountId: string, agentId: string) => Promise<AgentForCall | null>;
  readonly insertCall: (call: NewCallRecord) => Promise<void>;
  /** Registers the call with the runner, which waits for the join from now on. */
  readonly startCall: (plan: CallPlan) => void | Promise<void>;
  /** Takes back a record whose start failed: removes it, or ends it with `system_error`. */
  readonly abandonCall: (callId: string, error: unknown) => Promise<void>;
  /** Calls of this process that have been started and have not ended. */
  readonly liveCalls: () => number;
  readonly limits: CallLimits;
  /** Voices of the configured voice engine. */
  readonly voices: () => readonly KnownVoice[];
  /** Names that `model` may take, `default` first. */
  readonly models: () => readonly string[];
  readonly turnTaking: TurnTakingSettings;
  readonly parseTemplate: ParseTemplate;
  readonly checkSchema: CheckSchema;
  readonly checkValue: CheckValue;
  /** A lower-case UUID. */
  readonly randomId: () => string;
  /** At least 128 random bits, URL-safe. */
  readonly randomToken: () => string;
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
}

export type CreateCall = (input: CreateCallInput) => Promise<{ readonly callId: string }>;
