/** The Call resource of the interface: in answers, in webhooks, and in their samples. */

import { randomUUID } from "node:crypto";
import {
  Call,
  type CallMedium,
  costOf,
  DEFAULT_CLIENT_MESSAGES,
  dialledBy,
  formatDurationMs,
  mapSecrets,
  maskSecret,
  pathOfMedium,
  renderAnswer,
  shownEngineUse,
  toVendorName,
  type WebhookEvent,
} from "@parley/schema";
import { callerOf } from "./caller.ts";
import { requestedSettings } from "../plan/requested-settings.ts";
import { settingsOf } from "../plan/call-settings.ts";
import type { Config } from "../config/config.ts";
import type { CallColumns } from "../store/database/tables/calls.ts";
import type { CallRow } from "../store/calls/calls.ts";

/**
 * A resource before `renderAnswer`, which orders and completes it by its schema: settings are stored as the schema
 * printed them, so their members have no types here.
 */
export type Resource = Readonly<Record<string, unknown>>;

/** Spelling of a join path's medium in answers, such as the vendor's. */
export type SpellMedium = (medium: string) => string;

/** `ws` for a base URL with `http`, `wss` with `https`. Null where the service dials. */
export function joinUrlOf(
  row: Pick<CallRow, "callId" | "mediumKind" | "joinToken" | "settings">,
  publicUrl: string,
  spell: SpellMedium,
): string | null {
  // Stored settings have passed the schema. The carrier alone gets the URL of a call that the service dials.
  if (dialledBy(row.settings["medium"] as CallMedium | undefined) !== null) return null;
  const medium = pathOfMedium(row.mediumKind);
  if (row.joinToken === null || medium === null) return null;
  return `${publicUrl.replace(/^http/, "ws")}/calls/${row.callId}/${spell(medium)}/${row.joinToken}`;
}

export function callResource(row: CallRow, publicUrl: string, spell: SpellMedium): Resource {
  return {
    // Calls of earlier versions are stored without it.
    clientMessages: DEFAULT_CLIENT_MESSAGES,
    ...row.settings,
    callId: row.callId,
    agent: row.agent,
    agentId: row.agent?.agentId ?? null,
    created: row.createdAt,
    joined: row.joinedAt,
    ended: row.endedAt,
    endReason: row.endReason,
    hasErrors: row.hasErrors,
    firstWords: row.firstWords,
    caller: callerOf(row),
    engineUse: row.engineUse?.engines.map((engine) =>
      shownEngineUse(engine, row.engineUse?.currency ?? null),
    ),
    cost: row.engineUse === null ? null : costOf(row.engineUse.engines, row.engineUse.currency),
    medianReplyWait: row.medianReplyMs === null ? null : formatDurationMs(row.medianReplyMs),
    joinUrl: joinUrlOf(row, publicUrl, spell),
    clientVersion: row.clientVersion,
    billedDuration: row.billedDurationMs === null ? null : formatDurationMs(row.billedDurationMs),
    billedSideInputTokens: row.sideInputTokens,
    billedSideOutputTokens: row.sideOutputTokens,
    billingStatus: `BILLING_STATUS_${row.billingStatus}`,
    shortSummary: row.shortSummary,
    summary: row.summary,
    metadata: row.metadata,
    requestContext: row.requestContext,
    sipDetails: row.mediumKind === "sip" ? sipDetailsOf(row) : null,
  };
}

function sipDetailsOf({ sipTermination: termination, sipBilledMs }: CallRow): Resource {
  return {
    billedDuration: sipBilledMs === null ? null : formatDurationMs(sipBilledMs),
    terminationReason: termination === null ? null : `SIP_TERMINATION_${termination}`,
  };
}

/**
 * The resource as in the bodies of webhooks and callbacks, whose receivers do not see the secrets of others (D163).
 * `publicUrl` is called each time: with a free port it is known late.
 */
export function callRenderer(
  { apiNames }: Pick<Config, "apiNames">,
  publicUrl: () => string,
): (row: CallRow) => unknown {
  const spell = apiNames === "vendor" ? toVendorName : (medium: string): string => medium;
  return (row) => {
    const shown = mapSecrets(Call, callResource(row, publicUrl(), spell), maskSecret);
    return renderAnswer(Call, shown, { names: apiNames });
  };
}

const SAMPLE_JOIN_MS = 2_000;
const SAMPLE_DURATION_MS = 63_000;
const SAMPLE_BILLED_MS = 66_000;

/** A call that does not exist, as it would be stored at the event. */
export function sampleCalls(
  limits: Pick<Config, "maxJoinTimeoutMs" | "maxCallDurationMs">,
): (accountId: string, event: WebhookEvent) => CallColumns {
  const settings = settingsOf(requestedSettings({ systemPrompt: "This is a sample call." }), {
    joinTimeoutMs: limits.maxJoinTimeoutMs,
    maxDurationMs: limits.maxCallDurationMs,
  });
  return (accountId, event) => {
    const isOver = event === "call.ended" || event === "call.billed";
    const endedAtMs = Date.now();
    const at = (ms: number): string => new Date(endedAtMs - SAMPLE_DURATION_MS + ms).toISOString();
    return {
      id: randomUUID(),
      account_id: accountId,
      agent_id: null,
      agent_name: null,
      agent_revision_id: null,
      created_at: at(-SAMPLE_JOIN_MS),
      joined_at: event === "call.started" ? null : at(0),
      ended_at: isOver ? at(SAMPLE_DURATION_MS) : null,
      end_reason: isOver ? "hangup" : null,
      client_version: null,
      medium_kind: "webRtc",
      sealed_join_token: null,
      settings: { ...settings },
      sealed_secrets: null,
      metadata: {},
      request_context: null,
      duration_ms: isOver ? SAMPLE_DURATION_MS : null,
      billed_duration_ms: isOver ? SAMPLE_BILLED_MS : null,
      billing_status: event === "call.billed" ? "BILLED" : "PENDING",
      short_summary: null,
      summary: null,
    };
  };
}
