/**
 * Makes a call: merges the agent's template and the request, checks everything that can be checked, compiles the plan,
 * stores the record and starts the call. Whatever fails, no record of a call that never lived stays behind.
 */

import { ApiError, mediumKindOf, validationError } from "@parley/schema";
import type {
  CallTemplate,
  CallTool,
  FieldError,
  InitialMessage,
  MediumKind,
  StartAgentCallRequest,
  StartCallRequest,
} from "@parley/schema";
import { askedByRequest, askedOfAgent } from "../call/asked-settings.ts";
import type { AskedSettings } from "../call/asked-settings.ts";
import { missingThings, resolveNames, unavailableParts } from "../call/availability.ts";
import type { Available, Resolved } from "../call/availability.ts";
import { settingsErrors, settingsOf, stageSettingsOf } from "../call/call-settings.ts";
import type { CallSettings, StageSettings } from "../call/call-settings.ts";
import { compileCallPlan, initialMessage } from "../call/compile-plan.ts";
import type { CompiledTool } from "../call/compile-tools.ts";
import { faultField } from "../call/context-schema.ts";
import type { CheckSchema } from "../call/context-schema.ts";
import type { CallPlan, TurnTakingSettings } from "../call/plan.ts";
import { askedAfter, toolsAfter } from "../call/prior-call.ts";
import type { PriorCall } from "../call/prior-call.ts";
import { storedPlan } from "../call/stored-plan.ts";
import { contextSchemaOf, fillTemplates } from "../call/template-fields.ts";
import { refusedAddresses } from "./asked-addresses.ts";
import { prepareTools } from "./asked-tools.ts";
import type { PreparedTools } from "./asked-tools.ts";
import { throttleOf, type FindThrottle } from "./asked-throttle.ts";
import { availableFor } from "./asked-voices.ts";
import type { PlanSources } from "./prepare-stage.ts";
import type { ScheduledCallRef } from "./scheduled-call.ts";

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
  /** Set for a scheduled call: that it is made is written together with it. */
  readonly scheduled?: ScheduledCallRef | undefined;
}

/** What call creation needs of a stored agent. The template was checked when it was stored; its secrets are opened. */
export interface AgentToCall {
  readonly agentId: string;
  readonly revisionId: string | null;
  readonly callTemplate: object | null;
}

/** What is written for a new call, in one transaction with its first stage and its initial messages. */
export interface NewCallRecord {
  readonly callId: string;
  readonly agentId: string | null;
  readonly agentRevisionId: string | null;
  readonly nodeId: string;
  /** Wall clock, ms since 1970. */
  readonly createdAtMs: number;
  readonly joinDeadlineMs: number;
  readonly mediumKind: MediumKind;
  /** Of the voice that the first stage names; null: it names none. */
  readonly voiceId: string | null;
  /** At least 128 random bits, URL-safe. */
  readonly joinToken: string;
  /** The settings of the Call resource after templates were filled. Secrets are in their places. */
  readonly settings: CallSettings;
  /** With its version; read back by `parsePlan`. */
  readonly plan: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly requestContext: null;
  readonly stage: {
    readonly stageId: string;
    readonly settings: StageSettings;
    readonly tools: readonly CallTool[];
  };
  readonly initialMessages: readonly InitialMessageRecord[];
}

export interface InitialMessageRecord {
  readonly index: number;
  readonly role: "user" | "agent" | "tool_call" | "tool_result";
  readonly text: string;
  readonly medium: "voice" | "text";
  readonly invocationId: string | null;
  readonly toolName: string | null;
  readonly errorDetails: string | null;
  readonly callState: Readonly<Record<string, unknown>> | null;
  readonly timespan: null;
  readonly wallClockTimespan: null;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface CallLimits {
  /** Calls of this process from creation to end; beyond it 503. */
  readonly concurrentCalls: number;
  /** The same for calls of batches, which leave the rest to callers and to calls made by hand. */
  readonly scheduledCalls: number;
  /** Upper bounds that the deployment may lower (D40). */
  readonly joinTimeoutMs: number;
  readonly maxDurationMs: number;
}

export interface CreateCallDeps extends PlanSources {
  /** Null: no such agent in this account. */
  readonly loadAgent: (accountId: string, agentId: string) => Promise<AgentToCall | null>;
  /** Null: no such call in this account, or a deleted one. */
  readonly loadPriorCall: (accountId: string, callId: string) => Promise<PriorCall | "running" | null>;
  readonly findThrottle: FindThrottle;
  /**
   * Counts the call against the limits of its account and against the throttle, and writes it. On every other outcome
   * than `inserted` nothing was written or counted; `agent_gone`: the agent was deleted since it was loaded; a failure:
   * what is to be answered, such as 429 with the wait.
   */
  readonly insertCall: (
    accountId: string,
    call: NewCallRecord,
    throttleId: string | null,
    scheduled: ScheduledCallRef | null,
  ) => Promise<"inserted" | "agent_gone" | ApiError>;
  /** Takes back a call that never ran, and what throttles counted for it. Does nothing when there is no such record. */
  readonly withdrawCall: (accountId: string, callId: string) => Promise<unknown>;
  /** For the operator: something is left that needs no answer to the client. */
  readonly warn: (message: string, error: unknown) => void;
  /** The call waits for its join from now on. Throws ApiError `no_capacity` when it cannot. */
  readonly startCall: (plan: CallPlan, start: { readonly createdAt: Date }) => void | Promise<void>;
  /** Calls of this process that were started and have not ended. */
  readonly liveCalls: () => number;
  readonly limits: CallLimits;
  readonly nodeId: string;
  /** Recognisers that `experimentalSettings.transcriptionProvider` may name. */
  readonly recognisers: () => readonly string[];
  readonly turnTaking: TurnTakingSettings;
  /** At least 128 random bits, URL-safe. */
  readonly randomToken: () => string;
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
}

export type CreateCall = (input: CreateCallInput) => Promise<{ readonly callId: string }>;

/** Seconds after which a full process may have room again: calls end every few seconds when there are many. */
const NO_CAPACITY_RETRY_SECONDS = 5;

export function createCallCreator(deps: CreateCallDeps): CreateCall {
  // Calls between the check of capacity and their start, so that many at once do not pass the check together.
  let starting = 0;
  return async (input) => {
    const most = deps.limits[input.scheduled === undefined ? "concurrentCalls" : "scheduledCalls"];
    // Refused before anything is asked of the store or of servers, and counted again once the call is known to be right.
    if (deps.liveCalls() + starting >= most) throw noCapacity();
    const callToken = deps.randomToken();
    const given = await askedBy(input, callToken, deps);
    const { asked, inheritedTools } = given;
    const prepared = await prepareTools(input.accountId, asked.tools, callToken, deps);
    const throttle = await throttleOf(input.accountId, input.query.throttle, deps.findThrottle);
    const available = await availableFor(input.accountId, asked.values, deps);
    const resolved = checkAsked(asked, prepared, available, throttle.errors, deps);
    if (deps.liveCalls() + starting >= most) throw noCapacity();
    starting += 1;
    try {
      const tools = inheritedTools ?? prepared.tools;
      const made = newCall({ ...given, ...resolved, tools, callToken }, input, deps);
      return await storeAndStart(made, input, throttle.throttleId, deps);
    } finally {
      starting -= 1;
    }
  };
}

function noCapacity(): ApiError {
  return new ApiError("no_capacity", "This server carries as many calls as it can.", {
    retryAfterSeconds: NO_CAPACITY_RETRY_SECONDS,
  });
}

interface Asked {
  readonly asked: AskedSettings;
  readonly agent: AgentToCall | null;
  /** What the agent's texts were filled from; later stages are filled from it as well. */
  readonly templateContext: Readonly<Record<string, unknown>>;
  /** Those of the prior call, when it is to go on with them; null: those that were asked for. */
  readonly inheritedTools: readonly CompiledTool[] | null;
}

async function askedBy(
  { accountId, agentId, request, query }: CreateCallInput,
  callToken: string,
  deps: CreateCallDeps,
): Promise<Asked> {
  if (agentId === null) {
    if (query.priorCallId !== undefined) {
      return await askedAfterPrior(accountId, query.priorCallId, request, callToken, deps);
    }
    return { asked: askedByRequest(request), agent: null, templateContext: {}, inheritedTools: null };
  }
  const agent = await deps.loadAgent(accountId, agentId);
  if (agent === null) throw agentNotFound();
  const own = request as StartAgentCallRequest;
  if (own.agentId !== undefined && own.agentId !== agentId) {
    throw validationError([{ field: "agentId", message: "must be the agent of the path, or left out" }]);
  }
  const template = (agent.callTemplate ?? {}) as CallTemplate;
  const { templateContext = {} } = own;
  const asked = askedOfAgent(filled(template, templateContext, deps), own);
  return { asked, agent, templateContext, inheritedTools: null };
}

async function askedAfterPrior(
  accountId: string,
  priorCallId: string,
  request: StartCallRequest,
  callToken: string,
  deps: CreateCallDeps,
): Promise<Asked> {
  if (request.initialMessages !== undefined) {
    const message = "must not be given together with priorCallId";
    throw validationError([{ field: "initialMessages", message }]);
  }
  const prior = await deps.loadPriorCall(accountId, priorCallId);
  if (prior === null) throw new ApiError("not_found", "There is no such call to go on from.");
  if (prior === "running") {
    throw new ApiError("wrong_state", "The call to go on from has not ended yet.");
  }
  return {
    asked: askedAfter(prior, request),
    agent: null,
    templateContext: prior.plans?.templateContext ?? {},
    inheritedTools:
      request.selectedTools === undefined ? toolsAfter(prior, { callToken, newId: deps.randomId }) : null,
  };
}

function agentNotFound(): ApiError {
  return new ApiError("not_found", "There is no such agent.");
}

/** The template with its texts filled from a context that satisfies its schema. */
function filled(
  template: CallTemplate,
  context: Readonly<Record<string, unknown>>,
  deps: CreateCallDeps,
): CallTemplate {
  const schema = contextSchemaOf(template, deps.parseTemplate);
  // Stored agents passed this, but perhaps under other limits than now.
  const faults = deps.checkSchema(schema);
  if (faults.length > 0) throw faulty("callTemplate.contextSchema", faults);
  const unsatisfied = deps.checkValue(schema, context);
  if (unsatisfied.length > 0) throw faulty("templateContext", unsatisfied);
  const result = fillTemplates(template, context, deps.parseTemplate);
  if ("errors" in result) throw validationError(result.errors);
  return result.filled;
}

function faulty(root: string, faults: ReturnType<CheckSchema>): ApiError {
  return validationError(faults.map((fault) => ({ field: faultField(root, fault), message: fault.message })));
}

/** Everything that is wrong at once; only what is right but not built yet gives 501. */
function checkAsked(
  asked: AskedSettings,
  tools: PreparedTools,
  available: Available,
  throttleErrors: readonly FieldError[],
  deps: CreateCallDeps,
): Pick<Resolved, "names" | "voiceId"> {
  const { names, voiceId, ...found } = resolveNames(asked, available);
  const errors: FieldError[] = [
    ...settingsErrors(asked, deps.limits),
    ...found.errors,
    ...missingThings(asked, available),
    ...tools.errors,
    ...refusedAddresses(asked, deps),
    ...throttleErrors,
  ];
  if (errors.length > 0) throw validationError(errors);
  const unavailable = [...unavailableParts(asked), ...found.unavailable, ...tools.unavailable];
  if (unavailable.length > 0) throw new ApiError("not_available", unavailable.join("; "));
  return { names, voiceId };
}

interface NewCall {
  readonly plan: CallPlan;
  readonly record: NewCallRecord;
}

interface CheckedCall extends Asked {
  readonly names: Resolved["names"];
  readonly voiceId: string | null;
  readonly tools: readonly CompiledTool[];
  readonly callToken: string;
}

function newCall(checked: CheckedCall, { accountId, query }: CreateCallInput, deps: CreateCallDeps): NewCall {
  const { asked, names, voiceId, tools, agent, templateContext, callToken } = checked;
  const callId = deps.randomId();
  const stageId = deps.randomId();
  const createdAtMs = deps.nowMs();
  const settings = settingsOf(asked, deps.limits);
  const { initialMessages = [], metadata = {} } = asked.values;
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
    warnings: warningsOf(asked, deps.recognisers()),
    greetingPrompt: query.enableGreetingPrompt ?? true,
    turnTaking: deps.turnTaking,
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
      requestContext: null,
      stage: { stageId, settings: stageSettingsOf(settings), tools: tools.map(({ listed }) => listed) },
      initialMessages: initialMessages.map(messageRecord),
    },
  };
}

/** Settings that are kept but do nothing here (D49). */
function warningsOf({ values }: AskedSettings, recognisers: readonly string[]): string[] {
  const wanted = values.experimentalSettings?.["transcriptionProvider"];
  if (wanted === undefined || wanted === null || recognisers.some((known) => known === wanted)) return [];
  const named = typeof wanted === "string" ? wanted : JSON.stringify(wanted);
  return [
    `experimentalSettings.transcriptionProvider: there is no recogniser ${named} here, only ${recognisers.join(", ")}`,
  ];
}

function messageRecord(message: InitialMessage, index: number): InitialMessageRecord {
  const { metadata = {} } = message;
  return {
    index,
    ...initialMessage(message),
    errorDetails: message.errorDetails ?? null,
    callState: message.callState ?? null,
    timespan: null,
    wallClockTimespan: null,
    // Records keep texts; what is none is kept as its JSON.
    metadata: Object.fromEntries(
      Object.entries(metadata).map(([key, value]) => [
        key,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
    ),
  };
}

async function storeAndStart(
  { plan, record }: NewCall,
  { accountId, scheduled }: Pick<CreateCallInput, "accountId" | "scheduled">,
  throttleId: string | null,
  deps: CreateCallDeps,
): Promise<{ readonly callId: string }> {
  const { callId, createdAtMs } = record;
  let refused: ApiError;
  try {
    const outcome = await deps.insertCall(accountId, record, throttleId, scheduled ?? null);
    if (outcome === "inserted") {
      await deps.startCall(plan, { createdAt: new Date(createdAtMs) });
      return { callId };
    }
    refused = outcome === "agent_gone" ? agentNotFound() : outcome;
  } catch (error) {
    // Also after a failed insert: a connection may break after the record was written.
    await deps.withdrawCall(accountId, callId).catch((second: unknown) => {
      deps.warn(`call ${callId} did not start, and its record could not be taken back`, second);
    });
    throw error;
  }
  // Nothing was written, so nothing has to be taken back.
  throw refused;
}
