/** The fields that every message has, and what a request must be like beyond them. */

import type { SipHeader } from "../user-agent.ts";
import { headerOf, listOf } from "./headers.ts";
import { MAX_CSEQ, MAX_VIAS, type CSeq, type Essentials, type SipRequest } from "./message.ts";
import { parseNameAddr, tagOf } from "./name-addr.ts";
import { isToken, wholeNumber } from "./syntax.ts";
import { parseUri, schemeOf } from "./uri.ts";
import { parseVia } from "./via.ts";

/** An answer to a request. */
export interface Fault {
  readonly status: number;
  readonly reason: string;
}

/** Fields that a message has once (RFC 3261, table 2). */
const SINGLE = ["from", "to", "call-id", "cseq", "max-forwards", "content-type", "content-length"];

const MAX_CALL_ID_CHARS = 512;
const MAX_TAG_CHARS = 256;
/** Seconds of Expires; larger values are read as this one would be (RFC 3261, 20.19). */
const MAX_EXPIRES = 2 ** 32 - 1;
const MAX_FORWARDS = 255;

export function readEssentials(headers: readonly SipHeader[]): Essentials | Fault {
  const message = { headers };
  for (const name of SINGLE) {
    if (headers.filter((header) => header.name === name).length > 1) return bad(`More than one ${name}`);
  }
  const vias = listOf(message, "via");
  const via = parseVia(vias?.[0] ?? "");
  if (vias === null || via === null || vias.length > MAX_VIAS) return bad("Via is not well-formed");
  if (vias.slice(1).some((other) => parseVia(other) === null)) return bad("Via is not well-formed");
  const from = parseNameAddr(headerOf(message, "from") ?? "");
  if (from === null || (tagOf(from)?.length ?? 0) > MAX_TAG_CHARS) return bad("From is not well-formed");
  const to = parseNameAddr(headerOf(message, "to") ?? "");
  if (to === null || (tagOf(to)?.length ?? 0) > MAX_TAG_CHARS) return bad("To is not well-formed");
  const callId = headerOf(message, "call-id") ?? "";
  if (callId === "" || callId.length > MAX_CALL_ID_CHARS || /[\s<>"]/.test(callId)) {
    return bad("Call-ID is not well-formed");
  }
  const cseq = parseCSeq(headerOf(message, "cseq") ?? "");
  if (cseq === null) return bad("CSeq is not well-formed");
  return { via, from, to, callId, cseq };
}

function parseCSeq(text: string): CSeq | null {
  const [, digits = "", method = ""] = /^(\d+)\s+(\S+)$/.exec(text) ?? [];
  const number = wholeNumber(digits.replace(/^0+(?=\d)/, ""), MAX_CSEQ);
  return number === null || !isToken(method) ? null : { number, method };
}

function bad(reason: string): Fault {
  return { status: 400, reason };
}

/** Beyond the essentials: the Request-URI, and numbers and addresses that are read later. */
export function checkRequest(request: SipRequest): Fault | null {
  if (request.cseq.method !== request.method) return bad("The method of CSeq is another one");
  const scheme = schemeOf(request.uri);
  if (scheme === null || /[\s<>"]/.test(request.uri)) return bad("The Request-URI is not well-formed");
  if (scheme !== "sip" && scheme !== "sips") return { status: 416, reason: "Unsupported URI Scheme" };
  const uri = parseUri(request.uri);
  // Header fields in a URI are for contacts and web pages, not for requests (RFC 3261, 19.1.1).
  if (uri === null || uri.hasHeaders) return bad("The Request-URI is not well-formed");
  const forwards = headerOf(request, "max-forwards");
  if (forwards !== null && wholeNumber(forwards, MAX_FORWARDS) === null)
    return bad("Max-Forwards is not well-formed");
  const expires = headerOf(request, "expires");
  if (expires !== null && wholeNumber(expires, MAX_EXPIRES) === null)
    return bad("Expires is not well-formed");
  for (const name of ["contact", "route", "record-route"]) {
    const values = listOf(request, name);
    if (values?.every((value) => isAddress(name, value)) !== true) return bad(`${name} is not well-formed`);
  }
  return null;
}

function isAddress(name: string, value: string): boolean {
  return (name === "contact" && value === "*") || parseNameAddr(value) !== null;
}
