/** The progress of a call, as callbacks of the carriers name it. */

import type { CarrierResult, CarrierStatus } from "../../ports/carriers.ts";

const STATES = new Map<string, CarrierStatus["state"]>([
  ["queued", "initiated"],
  ["initiated", "initiated"],
  ["ringing", "ringing"],
  ["answered", "answered"],
  ["in-progress", "answered"],
]);

const RESULTS = new Map<string, CarrierResult>([
  ["completed", "completed"],
  ["busy", "busy"],
  ["no-answer", "no_answer"],
  ["timeout", "no_answer"],
  ["failed", "failed"],
  ["canceled", "canceled"],
  ["cancel", "canceled"],
  ["machine", "machine"],
]);

const MAX_ID_CHARS = 200;
const MAX_DETAIL_CHARS = 200;
const MAX_WORD_CHARS = 40;
/** Carriers end calls after a day. */
const MAX_TALKED_SECONDS = 172_800;

export interface StatusFields {
  readonly id: string | undefined;
  readonly status: string | undefined;
  readonly answeredBy: string | undefined;
  readonly seconds: string | undefined;
  readonly detail: readonly (string | undefined)[];
}

/** Null: the request names neither a status that is known nor who answered. */
export function statusOf(fields: StatusFields): CarrierStatus | null {
  const word = fields.status?.toLowerCase() ?? "";
  const result = RESULTS.get(word) ?? null;
  const answeredBy = fields.answeredBy === undefined || fields.answeredBy === "" ? null : fields.answeredBy;
  const state = result === null ? (STATES.get(word) ?? (answeredBy === null ? null : "answered")) : "ended";
  if (state === null) return null;
  return {
    carrierCallId: callIdIn(fields.id),
    state,
    result,
    answeredBy: answeredBy?.slice(0, MAX_WORD_CHARS) ?? null,
    talkedMs: talkedMsOf(fields.seconds),
    detail: detailOf(fields.detail),
  };
}

/** Null: it is absent, or no id of a carrier. */
export function callIdIn(id = ""): string | null {
  return id.length <= MAX_ID_CHARS && /^[\x21-\x7e]+$/.test(id) ? id : null;
}

function talkedMsOf(seconds: string | undefined): number | null {
  if (seconds === undefined || !/^\d{1,7}$/.test(seconds)) return null;
  return Math.min(Number(seconds), MAX_TALKED_SECONDS) * 1000;
}

function detailOf(parts: StatusFields["detail"]): string | null {
  const text = parts
    .filter((part) => part !== undefined && part.trim() !== "")
    .join(" ")
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return text === "" ? null : text.slice(0, MAX_DETAIL_CHARS);
}
