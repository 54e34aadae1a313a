/** Writes messages. What would break a line throws: the caller has let something unchecked through. */

import type { SipHeader } from "../user-agent.ts";
import { listOf, writtenName } from "./headers.ts";
import { NO_BODY, type RequestText, type ResponseText, type SipRequest } from "./message.ts";
import { nameAddrText, tagOf, withTag } from "./name-addr.ts";
import { checkedValue } from "./syntax.ts";

export function serialize(message: RequestText | ResponseText): Buffer {
  const start =
    message.kind === "request"
      ? `${message.method} ${message.uri} SIP/2.0`
      : `SIP/2.0 ${String(message.status)} ${message.reason}`;
  const lines = [checkedValue(start)];
  for (const { name, value } of message.headers) {
    if (name !== "content-length") lines.push(checkedValue(`${writtenName(name)}: ${value}`));
  }
  lines.push(`Content-Length: ${String(message.body.length)}`);
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "utf8"), message.body]);
}

export interface ResponseParts {
  readonly status: number;
  readonly reason?: string;
  /** Added to To, unless the request has a tag there. */
  readonly toTag?: string | null;
  readonly headers?: readonly SipHeader[];
  readonly body?: Buffer;
}

/** With the fields that a response copies (RFC 3261, 8.2.6.2). */
export function responseTo(request: SipRequest, parts: ResponseParts): ResponseText {
  const { status, toTag = null, headers = [], body = NO_BODY } = parts;
  const to = toTag === null || tagOf(request.to) !== null ? request.to : withTag(request.to, toTag);
  const vias = listOf(request, "via") ?? [];
  return {
    kind: "response",
    status,
    reason: parts.reason ?? reasonOf(status),
    headers: [
      ...vias.map((value) => ({ name: "via", value })),
      { name: "from", value: nameAddrText(request.from) },
      { name: "to", value: nameAddrText(to) },
      { name: "call-id", value: request.callId },
      { name: "cseq", value: `${String(request.cseq.number)} ${request.cseq.method}` },
      ...headers,
    ],
    body,
  };
}

const REASONS: Readonly<Record<number, string>> = {
  100: "Trying",
  180: "Ringing",
  181: "Call Is Being Forwarded",
  182: "Queued",
  183: "Session Progress",
  200: "OK",
  202: "Accepted",
  302: "Moved Temporarily",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  407: "Proxy Authentication Required",
  408: "Request Timeout",
  415: "Unsupported Media Type",
  416: "Unsupported URI Scheme",
  420: "Bad Extension",
  421: "Extension Required",
  422: "Session Interval Too Small",
  480: "Temporarily Unavailable",
  481: "Call/Transaction Does Not Exist",
  482: "Loop Detected",
  486: "Busy Here",
  487: "Request Terminated",
  488: "Not Acceptable Here",
  489: "Bad Event",
  491: "Request Pending",
  500: "Server Internal Error",
  501: "Not Implemented",
  503: "Service Unavailable",
  505: "Version Not Supported",
  600: "Busy Everywhere",
  603: "Decline",
  604: "Does Not Exist Anywhere",
  606: "Not Acceptable",
};

export function reasonOf(status: number): string {
  return REASONS[status] ?? REASONS[Math.floor(status / 100) * 100] ?? "Refused";
}
