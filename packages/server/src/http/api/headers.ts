/** Headers of every answer, and the answers to the preflights of browsers (D29). */

import type { IncomingHttpHeaders } from "node:http";
import { HEADER_PREFIXES } from "@parley/schema";
import { readTraceParent } from "../../ports/trace-parent.ts";

/** Ids that clients may choose for their requests: safe in a log line and a header, at most 128 characters. */
const REQUEST_ID = /^[A-Za-z0-9._:+/=@-]{1,128}$/;

/** The client's request id when it is valid, otherwise null. */
export function acceptedRequestId(given: string | string[] | undefined): string | null {
  return typeof given === "string" && REQUEST_ID.test(given) ? given : null;
}

/** The headers that operations read. */
export interface ReadHeaders {
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly accept: string | undefined;
  /** `X-Operator-Key`. Node joins the values of a repeated header, which no key matches. */
  readonly operatorKey: string | undefined;
  /** A valid `traceparent` (W3C Trace Context). A request with a wrong one is served as one without it. */
  readonly traceParent: string | undefined;
}

export function readHeaders(headers: IncomingHttpHeaders): ReadHeaders {
  const { "content-type": contentType, "content-encoding": contentEncoding, accept } = headers;
  const operatorKey = headers["x-operator-key"]?.toString();
  const given = headers["traceparent"];
  const traceParent = readTraceParent(given) === null ? undefined : String(given);
  return { contentType, contentEncoding, accept, operatorKey, traceParent };
}

/** The service answers data: browsers must not run, frame, cache or sniff it. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
};

/** One year; only sent where the public URL is https. */
export const STRICT_TRANSPORT = "max-age=31536000";

const EXPOSED = [
  "Location, Link, Retry-After, Total-Relation, X-Request-Id, Idempotent-Replayed",
  ...HEADER_PREFIXES.map((prefix) => `${prefix}Created-Tools`),
].join(", ");
const ANY_ORIGIN_HEADERS = "X-Unsafe-API-Key, Content-Type, Idempotency-Key";
/** Seconds a browser may cache a preflight; Chromium allows 7200 at most. */
const PREFLIGHT_MAX_AGE = "7200";

/** For every answer to a request with an `Origin`. No cookies are used, so any origin may read. */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": EXPOSED,
};

/** `X-API-Key` is allowed only from the listed origins, because a page that holds such a key leaks it. */
export function preflightHeaders(
  origin: string | undefined,
  methods: readonly string[],
  allowedOrigins: readonly string[],
): Record<string, string> {
  const trusted = origin !== undefined && allowedOrigins.includes(origin);
  return {
    ...CORS_HEADERS,
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": trusted ? `X-API-Key, ${ANY_ORIGIN_HEADERS}` : ANY_ORIGIN_HEADERS,
    "access-control-max-age": PREFLIGHT_MAX_AGE,
    vary: "Origin",
  };
}

const JOIN_PATH = /^\/calls\/([^/]*)\/([^/]*)\/.*$/s;

/** The token of an upload address is as secret as a key. */
const UPLOAD_PATH = /^\/corpus_uploads\/.*/;

/** The path of a URL as it may be logged: without its query (it may contain search texts) and join token. */
export function loggedPath(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? "";
  return path.replace(JOIN_PATH, "/calls/$1/$2/***").replace(UPLOAD_PATH, "/corpus_uploads/***");
}

/** Whether a request with these headers has a body. */
export function announcesBody(headers: IncomingHttpHeaders): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== "0");
}
