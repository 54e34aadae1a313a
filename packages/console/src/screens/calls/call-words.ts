/** Labels and formats for fields of calls. */

import type { Call } from "@parley/schema";
import { CARRIER_NAMES } from "../vendor-names.ts";

/** Milliseconds of a duration such as `12.5s`; null if it is not a duration. */
export function msOf(duration: string | null | undefined): number | null {
  if (duration === null || duration === undefined) return null;
  const seconds = /^-?\d+(?:\.\d+)?s$/.test(duration) ? Number.parseFloat(duration) : Number.NaN;
  return Number.isNaN(seconds) ? null : seconds * 1000;
}

/** 65 000 is `1:05`, an hour more is `1:01:05`. */
export function clockOf(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = two(seconds % 60);
  return hours === 0 ? `${String(minutes)}:${rest}` : `${String(hours)}:${two(minutes)}:${rest}`;
}

/** Short durations: `340 ms`, `2.4 s`. */
export function shortLength(ms: number): string {
  return ms < 1000 ? `${String(Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1_000_000) return `${String(Math.max(1, Math.round(bytes / 1000)))} kB`;
  return bytes < 1_000_000_000
    ? `${String(Math.round(bytes / 1_000_000))} MB`
    : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

export { END_REASONS, endOf, statusOf } from "../call-status.tsx";

const MEDIA: Readonly<Record<string, string>> = {
  webRtc: "WebRTC",
  serverWebSocket: "WebSocket",
  sip: "SIP",
  ...CARRIER_NAMES,
};

/** A medium in another spelling is shown in that spelling. */
export function mediumOf({ medium }: Pick<Call, "medium">): string {
  const [kind = "webRtc"] = Object.keys(medium);
  return MEDIA[kind] ?? kind;
}

/** From the join to the end, or until now; null before the join. */
export function durationMsOf(
  { joined, ended }: Pick<Call, "joined" | "ended">,
  nowMs: number,
): number | null {
  if (joined === null) return null;
  const endMs = ended === null ? nowMs : Date.parse(ended);
  return Math.max(0, endMs - Date.parse(joined));
}

export function billingOf({ billingStatus }: Pick<Call, "billingStatus">): string {
  const words = billingStatus
    .replace(/^BILLING_STATUS_/, "")
    .toLowerCase()
    .replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function nameOf({ agent }: Pick<Call, "agent">): string {
  return agent?.name ?? "No agent";
}
