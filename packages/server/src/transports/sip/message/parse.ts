/** Reads the bytes of one message. What a peer may send is decided here; nothing behind it sees unchecked bytes. */

import type { SipHeader } from "../user-agent.ts";
import { longName } from "./headers.ts";
import { checkRequest, readEssentials, type Fault } from "./essentials.ts";
import {
  MAX_HEADER_CHARS,
  MAX_HEADERS,
  MAX_MESSAGE_BYTES,
  type SipRequest,
  type SipResponse,
} from "./message.ts";
import { hasControls, isToken, wholeNumber, withoutControls } from "./syntax.ts";

export type Parsed =
  | { readonly kind: "request"; readonly request: SipRequest }
  | { readonly kind: "response"; readonly response: SipResponse }
  /** A request that gets this answer. `headers` has Via, From, To, Call-ID and CSeq as far as they came. */
  | (Fault & { readonly kind: "refused"; readonly method: string; readonly headers: readonly SipHeader[] })
  /** Not a message, or a response that is not well-formed: dropped. */
  | { readonly kind: "dropped"; readonly reason: string };

/** Of a reason phrase that is read. */
export const MAX_REASON_CHARS = 200;

const REQUEST_LINE = /^(\S+) (\S.*) (SIP\/\d+\.\d+)$/isu;
const STATUS_LINE = /^SIP\/2\.0 (\d{3})(?: (.*))?$/isu;

/** @param bytes a datagram, or one message of a stream */
export function parseMessage(bytes: Buffer): Parsed {
  if (bytes.length > MAX_MESSAGE_BYTES) return dropped("too long");
  const begin = afterBlankLines(bytes);
  const end = endOfHead(bytes, begin);
  if (end === null) return dropped("no empty line after the header fields");
  const [startLine = "", ...lines] = unfold(bytes.toString("utf8", begin, end.head));
  const rest = bytes.subarray(end.body);
  const isResponse = /^SIP\/\d+\.\d+ /i.test(startLine);
  const fields = readFields(lines);
  if (isResponse) return readResponse(startLine, fields, rest);
  return readRequest(startLine, fields, rest);
}

function dropped(reason: string): Parsed {
  return { kind: "dropped", reason };
}

function afterBlankLines(bytes: Buffer): number {
  let at = 0;
  while (bytes[at] === 0x0d || bytes[at] === 0x0a) at += 1;
  return at;
}

function endOfHead(bytes: Buffer, begin: number): { readonly head: number; readonly body: number } | null {
  const strict = bytes.indexOf("\r\n\r\n", begin, "latin1");
  const lenient = bytes.indexOf("\n\n", begin, "latin1");
  if (strict === -1 && lenient === -1) return null;
  if (lenient === -1 || (strict !== -1 && strict < lenient)) return { head: strict, body: strict + 4 };
  return { head: lenient, body: lenient + 2 };
}

/**
 * Lines, of which one that begins with a space continues the line before. No pattern looks for the spaces before the end
 * of a line, because its time would grow with the square of their number: 60 KB of spaces would take seconds.
 */
function unfold(head: string): string[] {
  const lines: string[][] = [];
  for (const line of head.split(/\r?\n/)) {
    const folded = /^[ \t]/.test(line) ? lines.at(-1) : undefined;
    if (folded === undefined) lines.push([line]);
    else folded.push(line.trimStart());
    if (lines.length > MAX_HEADERS + 2) break;
  }
  return lines.slice(0, MAX_HEADERS + 2).map((parts) => joined(parts));
}

function joined(parts: readonly string[]): string {
  return parts.map((part, index) => (index < parts.length - 1 ? part.trimEnd() : part)).join(" ");
}

interface Fields {
  readonly headers: readonly SipHeader[];
  readonly fault: string | null;
}

function readFields(lines: readonly string[]): Fields {
  const headers: SipHeader[] = [];
  let fault = lines.length > MAX_HEADERS ? "too many header fields" : null;
  for (const line of lines.slice(0, MAX_HEADERS)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trimEnd();
    const value = line.slice(colon + 1).trim();
    if (line.length > MAX_HEADER_CHARS) fault ??= "a header field is too long";
    else if (!isToken(name) || hasControls(value)) fault ??= "a header field is not well-formed";
    else headers.push({ name: longName(name), value });
  }
  return { headers, fault };
}

/** The body that Content-Length says. A datagram may have more bytes, which are ignored (RFC 3261, 18.3). */
function readBody(headers: readonly SipHeader[], rest: Buffer): Buffer | string {
  const lengths = headers.filter(({ name }) => name === "content-length");
  const [first] = lengths;
  if (first === undefined) return rest;
  const length = wholeNumber(first.value, MAX_MESSAGE_BYTES);
  if (lengths.length > 1 || length === null) return "Content-Length is not well-formed";
  if (length > rest.length) return "the body is shorter than Content-Length says";
  return rest.subarray(0, length);
}

function readResponse(startLine: string, { headers, fault }: Fields, rest: Buffer): Parsed {
  const [, digits = "", reason = ""] = STATUS_LINE.exec(startLine) ?? [];
  const status = Number(digits);
  if (digits === "" || status < 100 || status > 699) return dropped("the status line is not well-formed");
  if (fault !== null) return dropped(fault);
  const body = readBody(headers, rest);
  if (typeof body === "string") return dropped(body);
  const essentials = readEssentials(headers);
  if ("status" in essentials) return dropped(essentials.reason);
  const response = {
    kind: "response" as const,
    status,
    reason: withoutControls(reason).slice(0, MAX_REASON_CHARS),
    headers,
    body,
  };
  return { kind: "response", response: { ...response, ...essentials } };
}

function readRequest(startLine: string, { headers, fault }: Fields, rest: Buffer): Parsed {
  const [, method = "", uri = "", version = ""] = REQUEST_LINE.exec(startLine) ?? [];
  // Without even the name of the protocol it is something else: no answer.
  if (!/ SIP\/\d+\.\d+[ \t]*$/i.test(startLine)) return dropped("not SIP");
  const refused = (status: number, reason: string): Parsed => ({
    kind: "refused",
    status,
    reason,
    method: method.toUpperCase(),
    headers: headers.filter(({ name }) => ANSWERED.has(name)),
  });
  if (!isToken(method)) return refused(400, "The request line is not well-formed");
  if (version.toUpperCase() !== "SIP/2.0") return refused(505, "Version Not Supported");
  if (fault !== null) return refused(400, sentence(fault));
  const body = readBody(headers, rest);
  if (typeof body === "string") return refused(400, sentence(body));
  const essentials = readEssentials(headers);
  if ("status" in essentials) return refused(essentials.status, essentials.reason);
  const request = { kind: "request" as const, method, uri, headers, body, ...essentials };
  const problem = checkRequest(request);
  return problem === null ? { kind: "request", request } : refused(problem.status, problem.reason);
}

const ANSWERED = new Set(["via", "from", "to", "call-id", "cseq"]);

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
