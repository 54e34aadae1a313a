/** The settings of a new call: the request alone, the request over its agent's template, or over a prior call. */

import type { CallTemplate, FieldError, StartAgentCallRequest, StartCallRequest } from "@parley/schema";
import { requestedSettings, requestedAgentSettings } from "../../plan/requested-settings.ts";
import type { RequestedSettings } from "../../plan/requested-settings.ts";
import type { CompiledTool } from "../../plan/compile-tools.ts";
import { faultField } from "../../plan/context-schema.ts";
import type { SchemaFault } from "../../plan/context-schema.ts";
import { consultationTools, requestedConsultation } from "../../plan/consultation.ts";
import { requestedAfter, toolsAfter } from "../../plan/prior-call.ts";
import type { PriorCall } from "../../plan/prior-call.ts";
import { contextSchemaOf, fillTemplates } from "../../plan/template-fields.ts";
import type { CreateCallInput, NotCreated } from "../api.ts";
import type { PlanSources } from "./prepare-stage.ts";

/** What call creation needs of a stored agent. The template was checked when it was stored; its secrets are opened. */
export interface AgentToCall {
  readonly agentId: string;
  readonly revisionId: string | null;
  readonly callTemplate: object | null;
}

export interface RequestSources extends PlanSources {
  /** Null: no such agent in this account. */
  readonly loadAgent: (accountId: string, agentId: string) => Promise<AgentToCall | null>;
  /** Null: no such call in this account, or a deleted one. */
  readonly loadPriorCall: (accountId: string, callId: string) => Promise<PriorCall | "running" | null>;
  /** The same of a call that is running. */
  readonly loadConsultedCall: (accountId: string, callId: string) => Promise<PriorCall | null>;
}

export interface RequestedCall {
  readonly requested: RequestedSettings;
  readonly agent: AgentToCall | null;
  /** Fills the agent's texts, and those of later stages. */
  readonly templateContext: Readonly<Record<string, unknown>>;
  /** The tools of the prior call, when the new call uses them too; null: those of the request. */
  readonly inheritedTools: readonly CompiledTool[] | null;
}

/** The request with its texts filled, or why it cannot be fulfilled. */
export async function requestedCall(
  { accountId, agentId, request, query, consultation }: CreateCallInput,
  callToken: string,
  sources: RequestSources,
): Promise<RequestedCall | NotCreated> {
  if (consultation !== undefined) {
    const prior = await sources.loadConsultedCall(accountId, consultation.callId);
    if (prior === null) return { kind: "not_found", reason: "There is no such call to consult about." };
    return {
      requested: requestedConsultation(prior, request),
      agent: null,
      templateContext: {},
      inheritedTools: consultationTools({ callToken, newId: sources.randomId }),
    };
  }
  if (agentId === null) {
    if (query.priorCallId !== undefined) {
      return await requestedAfterPriorCall(accountId, query.priorCallId, request, callToken, sources);
    }
    return { requested: requestedSettings(request), agent: null, templateContext: {}, inheritedTools: null };
  }
  const agent = await sources.loadAgent(accountId, agentId);
  if (agent === null) return AGENT_NOT_FOUND;
  const own = request as StartAgentCallRequest;
  if (own.agentId !== undefined && own.agentId !== agentId) {
    return refused([{ field: "agentId", message: "must be the agent of the path, or left out" }]);
  }
  const template = (agent.callTemplate ?? {}) as CallTemplate;
  const { templateContext = {} } = own;
  const filled = await fillTemplate(accountId, template, templateContext, sources);
  if ("errors" in filled) return refused(filled.errors);
  const requested = requestedAgentSettings(filled.template, own);
  return { requested, agent, templateContext, inheritedTools: null };
}

async function requestedAfterPriorCall(
  accountId: string,
  priorCallId: string,
  request: StartCallRequest,
  callToken: string,
  sources: RequestSources,
): Promise<RequestedCall | NotCreated> {
  if (request.initialMessages !== undefined) {
    const message = "must not be given together with priorCallId";
    return refused([{ field: "initialMessages", message }]);
  }
  const prior = await sources.loadPriorCall(accountId, priorCallId);
  if (prior === null) return { kind: "not_found", reason: "There is no such call to continue." };
  if (prior === "running") {
    return { kind: "prior_call_running", reason: "The call to continue has not ended yet." };
  }
  return {
    requested: requestedAfter(prior, request),
    agent: null,
    templateContext: prior.plans?.templateContext ?? {},
    inheritedTools:
      request.selectedTools === undefined ? toolsAfter(prior, { callToken, newId: sources.randomId }) : null,
  };
}

export const AGENT_NOT_FOUND: NotCreated = { kind: "not_found", reason: "There is no such agent." };

function refused(errors: readonly FieldError[]): NotCreated {
  return { kind: "refused", errors };
}

type FilledTemplate = { readonly template: CallTemplate } | { readonly errors: readonly FieldError[] };

/** The template with its texts filled from a context that satisfies its schema. */
async function fillTemplate(
  accountId: string,
  template: CallTemplate,
  context: Readonly<Record<string, unknown>>,
  { parseTemplate, checkSchema, checkValue }: PlanSources,
): Promise<FilledTemplate> {
  const schema = contextSchemaOf(template, parseTemplate);
  // Stored agents passed this check, but perhaps under other limits.
  const faults = await checkSchema(accountId, schema);
  if (faults.length > 0) return faulty("callTemplate.contextSchema", faults);
  const unsatisfied = await checkValue(accountId, schema, context);
  if (unsatisfied.length > 0) return faulty("templateContext", unsatisfied);
  const result = fillTemplates(template, context, parseTemplate);
  return "errors" in result ? result : { template: result.filled };
}

function faulty(root: string, faults: readonly SchemaFault[]): FilledTemplate {
  return { errors: faults.map((fault) => ({ field: faultField(root, fault), message: fault.message })) };
}
