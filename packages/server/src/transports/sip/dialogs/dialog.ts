/** Dialogs (RFC 3261, 12): what two user agents know of each other after a response with a tag. Pure. */

import type { SipHeader } from "../user-agent.ts";
import { headerOf, listOf } from "../message/headers.ts";
import { NO_BODY, type RequestText, type SipRequest, type SipResponse } from "../message/message.ts";
import { nameAddrText, parseNameAddr, tagOf, withTag, type NameAddr } from "../message/name-addr.ts";
import { parseUri } from "../message/uri.ts";

export interface Dialog {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  readonly local: NameAddr;
  readonly remote: NameAddr;
  /** URI of the peer's Contact. */
  readonly remoteTarget: string;
  /** URIs of proxies that stay on the way, the nearest first, as name-addr. */
  readonly routes: readonly string[];
  /** Of our last request. */
  readonly localCseq: number;
  /** Of the peer's last request; null before the first. */
  readonly remoteCseq: number | null;
}

/** Proxies of a route set; more are read as hostile. */
const MAX_ROUTES = 20;

/** Null: no Contact, or a route set that is not well-formed. */
export function dialogOfRequest(request: SipRequest, localTag: string): Dialog | null {
  const remoteTarget = contactOf(request);
  const routes = routesOf(request);
  if (remoteTarget === null || routes === null) return null;
  return {
    callId: request.callId,
    localTag,
    remoteTag: tagOf(request.from) ?? "",
    local: withTag(request.to, localTag),
    remote: request.from,
    remoteTarget,
    routes,
    localCseq: 0,
    remoteCseq: request.cseq.number,
  };
}

/** @param cseq of the INVITE, after which our requests count on */
export function dialogOfResponse(response: SipResponse, cseq: number): Dialog | null {
  const remoteTarget = contactOf(response);
  const routes = routesOf(response);
  const remoteTag = tagOf(response.to);
  if (remoteTarget === null || routes === null || remoteTag === null) return null;
  return {
    callId: response.callId,
    localTag: tagOf(response.from) ?? "",
    remoteTag,
    local: response.from,
    remote: response.to,
    remoteTarget,
    routes: routes.toReversed(),
    localCseq: cseq,
    remoteCseq: null,
  };
}

/** The one SIP URI of Contact. */
export function contactOf(message: SipRequest | SipResponse): string | null {
  const values = listOf(message, "contact");
  const address = values?.length === 1 ? parseNameAddr(values[0] ?? "") : null;
  return address !== null && parseUri(address.uri) !== null ? address.uri : null;
}

function routesOf(message: SipRequest | SipResponse): readonly string[] | null {
  const routes = listOf(message, "record-route");
  if (routes === null || routes.length > MAX_ROUTES) return null;
  const isReadable = (route: string) => parseUri(parseNameAddr(route)?.uri ?? "") !== null;
  return routes.every(isReadable) ? routes : null;
}

export function dialogKey(callId: string, localTag: string, remoteTag: string): string {
  return `${callId} ${localTag} ${remoteTag}`;
}

/** The same for all INVITEs that begin one call of a caller, whatever way they came. */
export function callerKey({ callId, from }: SipRequest): string {
  return `${callId} ${tagOf(from) ?? ""}`;
}

/** Of a request that the peer sends in a dialog. */
export function keyOfRequest({ callId, to, from }: SipRequest): string {
  return dialogKey(callId, tagOf(to) ?? "", tagOf(from) ?? "");
}

/** Null: the request is older than one that came before (500, RFC 3261, 12.2.2). */
export function withRemoteCseq(dialog: Dialog, { cseq }: SipRequest): Dialog | null {
  if (dialog.remoteCseq !== null && cseq.number <= dialog.remoteCseq) return null;
  return { ...dialog, remoteCseq: cseq.number };
}

/** After a re-INVITE or UPDATE, or a response to one: the peer may have moved. */
export function withTargetOf(dialog: Dialog, message: SipRequest | SipResponse): Dialog {
  return { ...dialog, remoteTarget: contactOf(message) ?? dialog.remoteTarget };
}

export interface DialogRequest {
  readonly method: string;
  readonly cseq: number;
  readonly headers: readonly SipHeader[];
  readonly body?: Buffer;
}

/** A request in the dialog, without Via. */
export function requestIn(
  dialog: Dialog,
  { method, cseq, headers, body = NO_BODY }: DialogRequest,
): RequestText {
  const { uri, routes } = targetIn(dialog);
  return {
    kind: "request",
    method,
    uri,
    headers: [
      ...routes.map((value) => ({ name: "route", value })),
      { name: "max-forwards", value: "70" },
      { name: "from", value: nameAddrText(dialog.local) },
      { name: "to", value: nameAddrText(dialog.remote) },
      { name: "call-id", value: dialog.callId },
      { name: "cseq", value: `${String(cseq)} ${method}` },
      ...headers,
    ],
    body,
  };
}

/** Loose routing; a first proxy without `lr` is of RFC 2543 and gets its own URI as the Request-URI (12.2.1.1). */
function targetIn({ remoteTarget, routes }: Dialog): {
  readonly uri: string;
  readonly routes: readonly string[];
} {
  const [first, ...others] = routes;
  const firstUri = first === undefined ? null : (parseNameAddr(first)?.uri ?? null);
  if (firstUri === null || parseUri(firstUri)?.parameters.has("lr") === true)
    return { uri: remoteTarget, routes };
  return { uri: firstUri, routes: [...others, `<${remoteTarget}>`] };
}

/** The URI that a request goes to: its first route, or else its Request-URI. */
export function nextHopOf(request: RequestText): string {
  const [route] = listOf(request, "route") ?? [];
  return (route === undefined ? null : parseNameAddr(route)?.uri) ?? request.uri;
}

/** The description in a message; null for another type of body or none. */
export function descriptionIn(message: SipRequest | SipResponse): string | null {
  const type = (headerOf(message, "content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  return type === "application/sdp" && message.body.length > 0 ? message.body.toString("utf8") : null;
}
