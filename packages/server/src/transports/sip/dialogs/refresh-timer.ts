/** How often a call is refreshed, and by whom (RFC 4028). Pure. */

import type { SipHeader } from "../user-agent.ts";
import { headerOf, tokensOf } from "../message/headers.ts";
import type { SipRequest, SipResponse } from "../message/message.ts";
import { parseParameters, wholeNumber } from "../message/syntax.ts";

/** What we ask for; customary among carriers. */
export const REFRESH_S = 1_800;
/** The shortest that RFC 4028 allows. */
export const MIN_REFRESH_S = 90;
const MOST_S = 2 ** 31 - 1;

export interface RefreshTimer {
  readonly everyS: number;
  readonly isOurs: boolean;
}

interface Interval {
  readonly seconds: number;
  readonly refresher: "uac" | "uas" | null;
}

function readInterval(message: SipRequest | SipResponse): Interval | null {
  const text = headerOf(message, "session-expires");
  if (text === null) return null;
  const semicolon = text.indexOf(";");
  const digits = (semicolon === -1 ? text : text.slice(0, semicolon)).trim();
  const seconds = wholeNumber(digits, MOST_S);
  const refresher = parseParameters(semicolon === -1 ? "" : text.slice(semicolon))
    ?.get("refresher")
    ?.toLowerCase();
  if (seconds === null) return null;
  return { seconds, refresher: refresher === "uac" || refresher === "uas" ? refresher : null };
}

/** Fields of an INVITE or UPDATE of ours. */
export function refreshOffer(
  everyS: number,
  minS: number,
  refresher: "uac" | "uas" | null,
): readonly SipHeader[] {
  const parameter = refresher === null ? "" : `;refresher=${refresher}`;
  return [
    { name: "session-expires", value: `${String(Math.max(everyS, minS))}${parameter}` },
    { name: "min-se", value: String(minS) },
  ];
}

/** The peer's request wants shorter intervals than are allowed: 422. */
export function isTooShort(request: SipRequest): boolean {
  const interval = readInterval(request);
  return interval !== null && interval.seconds < MIN_REFRESH_S;
}

/** Of a 422, for the next try; null when it says none that can be used. */
export function minOf(response: SipResponse): number | null {
  const text = (headerOf(response, "min-se") ?? "").split(";")[0]?.trim() ?? "";
  const seconds = wholeNumber(text, MOST_S);
  return seconds !== null && seconds >= MIN_REFRESH_S ? seconds : null;
}

/** Our answer to an INVITE or UPDATE of the peer, and its fields. */
export function answerRefresh(request: SipRequest): {
  readonly timer: RefreshTimer;
  readonly headers: readonly SipHeader[];
} {
  const interval = readInterval(request);
  const peerKnows = tokensOf(request, "supported").includes("timer");
  const leastS = wholeNumber((headerOf(request, "min-se") ?? "").split(";")[0]?.trim() ?? "", MOST_S) ?? 0;
  const everyS = interval?.seconds ?? Math.max(REFRESH_S, leastS, MIN_REFRESH_S);
  // A peer without this extension cannot refresh; one with it does, unless it asks us to.
  const refresher = peerKnows ? (interval?.refresher ?? "uac") : "uas";
  const headers: SipHeader[] = [
    { name: "session-expires", value: `${String(everyS)};refresher=${refresher}` },
    ...(refresher === "uac" ? [{ name: "require", value: "timer" }] : []),
  ];
  return { timer: { everyS, isOurs: refresher === "uas" }, headers };
}

/** What the peer's 200 to our request says. Null: the peer does not know this extension, and nothing is refreshed. */
export function readRefresh(response: SipResponse): RefreshTimer | null {
  const interval = readInterval(response);
  if (interval === null || interval.seconds < MIN_REFRESH_S) return null;
  return { everyS: interval.seconds, isOurs: interval.refresher !== "uas" };
}

/** When the refresh is sent, if it is ours, and when the call has expired. */
export function delaysOf({ everyS }: RefreshTimer): {
  readonly refreshMs: number;
  readonly expireMs: number;
} {
  return { refreshMs: (everyS / 2) * 1_000, expireMs: (everyS - Math.min(32, everyS / 3)) * 1_000 };
}
