/** The Call resource outside of an answer: in what webhooks are told, and in samples of it. */

import { randomUUID } from "node:crypto";
import { Call, renderAnswer, toVendorName, type WebhookEvent } from "@parley/schema";
import { askedByRequest } from "./call/asked-settings.ts";
import { settingsOf } from "./call/call-settings.ts";
import type { Config } from "./config.ts";
import { callResource } from "./http/resources.ts";
import type { CallColumns } from "./store/call-rows.ts";
import type { CallRow } from "./store/calls.ts";

/** As answers have it. `publicUrl` is asked each time: with a free port it is known late. */
export function callRenderer(
  { apiNames }: Pick<Config, "apiNames">,
  publicUrl: () => string,
): (row: CallRow) => unknown {
  const spell = apiNames === "vendor" ? toVendorName : (medium: string): string => medium;
  return (row) => renderAnswer(Call, callResource(row, publicUrl(), spell), { names: apiNames });
}

const SAMPLE_JOIN_MS = 2_000;
const SAMPLE_DURATION_MS = 63_000;
const SAMPLE_BILLED_MS = 66_000;

/** A call that does not exist, as it would be on record at the event. */
export function sampleCalls(
  limits: Pick<Config, "maxJoinTimeoutMs" | "maxCallDurationMs">,
): (accountId: string, event: WebhookEvent) => CallColumns {
  const settings = settingsOf(askedByRequest({ systemPrompt: "This is a sample call." }), {
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
