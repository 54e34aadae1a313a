/** Converts rows of the store to resources of the interface. A missing value is null or absent, as in the schema. */

import {
  type Account,
  type ApiKey,
  type CallEvent,
  type CallThrottle,
  type DeletedCall,
  formatDurationMs,
  MESSAGE_ROLE_OF,
  type VoiceKind,
  type WebhookDelivery,
} from "@parley/schema";
import type { Resource } from "../../lifecycle/resource.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import type { AgentRow } from "../../store/agents/agents.ts";
import type { ApiKeyRow } from "../../store/accounts/api-keys.ts";
import type { CallEventRow } from "../../store/calls/call-events.ts";
import type { DeletedCallRow } from "../../store/calls/deleted-calls.ts";
import type { MessageRow } from "../../store/calls/messages.ts";
import type { StageRow } from "../../store/calls/stages.ts";
import type { ThrottleRow } from "../../store/accounts/throttles.ts";
import type { ToolRow } from "../../store/agents/tools.ts";
import type { VoiceRow } from "../../store/agents/voices.ts";
import type { DeliveryRow } from "../../store/webhooks/webhook-deliveries.ts";

export function agentResource(row: AgentRow): Resource {
  return {
    agentId: row.agentId,
    publishedRevisionId: row.publishedRevisionId,
    name: row.name,
    created: row.createdAt,
    callTemplate:
      row.callTemplate === null
        ? null
        : { ...row.callTemplate, created: row.createdAt, updated: row.updatedAt },
    statistics: { calls: row.callsCount },
  };
}

export function deletedCallResource(row: DeletedCallRow): DeletedCall {
  return {
    callId: row.callId,
    accountId: row.accountId,
    created: row.createdAt,
    deletionTime: row.deletedAt,
    endReason: row.endReason,
    recordingEnabled: row.recordingEnabled,
    hadSummary: row.hadSummary,
    joined: row.joinedAt,
    ended: row.endedAt,
    maxDuration: row.maxDuration,
  };
}

export function stageResource(row: StageRow): Resource {
  return {
    ...row.settings,
    callId: row.callId,
    callStageId: row.stageId,
    created: row.createdAt,
    initialTokenCount: row.initialTokenCount,
    latestTokenCount: row.latestTokenCount,
    errorCount: row.errorCount,
  };
}

export function messageResource(row: MessageRow): Resource {
  return {
    role: MESSAGE_ROLE_OF[row.role],
    text: row.text,
    invocationId: row.invocationId,
    toolName: row.toolName,
    errorDetails: row.errorDetails,
    medium: `MESSAGE_MEDIUM_${row.medium.toUpperCase()}`,
    callStageMessageIndex: row.index,
    callStageId: row.stageId,
    callState: row.callState,
    timespan: timespan(row.timespan),
    wallClockTimespan: timespan(row.wallClockTimespan),
    metadata: Object.keys(row.metadata).length === 0 ? null : row.metadata,
  };
}

export function toolResource(row: ToolRow): Resource {
  return {
    toolId: row.toolId,
    name: row.name,
    created: row.createdAt,
    definition: row.definition,
    ownership: row.ownership,
  };
}

export function accountResource(row: AccountRow): Account {
  return {
    accountId: row.accountId,
    name: row.name,
    activeCalls: row.activeCalls,
    allowedConcurrentCalls: row.allowedConcurrentCalls,
  };
}

export function apiKeyResource(row: ApiKeyRow): ApiKey {
  return {
    prefix: row.prefix,
    created: row.createdAt,
    creator: row.creator,
    name: row.name,
    expiryDate: row.expiryDate,
    scopes: row.scopes === null ? null : [...row.scopes],
    revoked: row.revoked,
  };
}

export function throttleResource(row: ThrottleRow): CallThrottle {
  return { throttleId: row.throttleId, name: row.name, created: row.createdAt, rules: [...row.rules] };
}

const languageNames = new Intl.DisplayNames(["en"], { type: "language", languageDisplay: "standard" });

/** The name of the language; null for none and for an invalid tag. */
function languageLabel(tag: string | null): string | null {
  try {
    return tag === null ? null : (languageNames.of(tag) ?? null);
  } catch {
    return null;
  }
}

/**
 * `spell` prints the names of providers, such as the vendor's. Of the kinds in `included` the deployment pays for the
 * voices.
 */
export function voiceResource(
  row: VoiceRow,
  publicUrl: string,
  spell: (name: string) => string,
  included: ReadonlySet<VoiceKind>,
): Resource {
  const isPublic = row.kind === null;
  const isIncluded = row.kind === null || included.has(row.kind);
  return {
    voiceId: row.voiceId,
    name: row.name,
    description: row.description,
    primaryLanguage: row.primaryLanguage,
    languageLabel: languageLabel(row.primaryLanguage),
    previewUrl: `${publicUrl}/api/voices/${row.voiceId}/preview`,
    ownership: isPublic ? "public" : "private",
    billingStyle: isIncluded ? "VOICE_BILLING_STYLE_INCLUDED" : "VOICE_BILLING_STYLE_EXTERNAL",
    provider: row.kind === null ? null : spell(row.kind),
    definition: row.definition,
  };
}

export function callEventResource(row: CallEventRow): CallEvent {
  return {
    callId: row.callId,
    callStageId: row.stageId,
    callTimestamp: formatDurationMs(row.callTimestampMs),
    wallClockTimestamp: durationOrNull(row.wallClockTimestampMs),
    severity: row.severity,
    type: row.type,
    text: row.text,
    extras: row.extras,
  };
}

export function deliveryResource(row: DeliveryRow): WebhookDelivery {
  return {
    deliveryId: row.deliveryId,
    webhookId: row.webhookId,
    event: row.event,
    callId: row.callId,
    status: row.status,
    attempts: row.attempts.map((attempt) => ({ ...attempt })),
    nextAttempt: row.nextAttemptAt,
    created: row.createdAt,
  };
}

function durationOrNull(ms: number | null): string | null {
  return ms === null ? null : formatDurationMs(ms);
}

function timespan(span: MessageRow["timespan"]): { readonly start: string; readonly end: string } | null {
  return span === null ? null : { start: formatDurationMs(span.startMs), end: formatDurationMs(span.endMs) };
}
