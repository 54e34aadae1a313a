/** Keys that come by INFO: `application/dtmf-relay` (`Signal=5`, `Duration=160`) and `application/dtmf` (`5`). */

import { headerOf } from "../message/headers.ts";
import type { SipRequest } from "../message/message.ts";

export interface InfoDigit {
  readonly key: string;
  readonly durationMs: number;
}

const DEFAULT_MS = 160;
const MAX_MS = 10_000;
/** Events of RFC 4733 by number; some peers write these. */
const BY_NUMBER: Readonly<Record<string, string>> = {
  "10": "*",
  "11": "#",
  "12": "A",
  "13": "B",
  "14": "C",
  "15": "D",
};

/** Null: an INFO without content, which only keeps the way open. "unknown": content that is not for us. */
export function readDigit(request: SipRequest): InfoDigit | "unknown" | null {
  if (request.body.length === 0) return null;
  const type = (headerOf(request, "content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  const text = request.body.toString("latin1");
  if (type === "application/dtmf") return digitOf(text.trim(), DEFAULT_MS);
  if (type !== "application/dtmf-relay") return "unknown";
  const signal = /^signal\s*=\s*(\S{1,2})\s*$/im.exec(text)?.[1] ?? "";
  const duration = Number(/^duration\s*=\s*(\d{1,6})\s*$/im.exec(text)?.[1] ?? DEFAULT_MS);
  return digitOf(signal, Math.min(duration, MAX_MS));
}

function digitOf(text: string, durationMs: number): InfoDigit | "unknown" {
  const key = BY_NUMBER[text] ?? text.toUpperCase();
  return /^[0-9*#A-D]$/.test(key) ? { key, durationMs } : "unknown";
}
