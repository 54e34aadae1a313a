/** Which transaction a message belongs to (RFC 3261, 17.1.3 and 17.2.3). */

import { listOf } from "../message/headers.ts";
import type { SipRequest, SipResponse } from "../message/message.ts";
import { tagOf } from "../message/name-addr.ts";
import { BRANCH_COOKIE, viaText, type Via } from "../message/via.ts";

/** The ACK of a refused INVITE belongs to the INVITE. */
function methodOf(method: string): string {
  return method === "ACK" ? "INVITE" : method;
}

export function clientKey(branch: string, method: string): string {
  return `${branch} ${method}`;
}

export function keyOfResponse({ via, cseq }: SipResponse): string {
  return clientKey(via.parameters.get("branch") ?? "", cseq.method);
}

export function serverKey(request: SipRequest): string {
  return keyFor(request, methodOf(request.method));
}

/** The INVITE that a CANCEL means. */
export function canceledKey(request: SipRequest): string {
  return keyFor(request, "INVITE");
}

function keyFor(request: SipRequest, method: string): string {
  const branch = request.via.parameters.get("branch") ?? "";
  if (branch.startsWith(BRANCH_COOKIE) && branch.length > BRANCH_COOKIE.length) {
    return `${branch} ${sentBy(request.via)} ${method}`;
  }
  // RFC 2543. The tag of To is left out: an ACK has the one of the response, and the INVITE has none.
  const [via = ""] = listOf(request, "via") ?? [];
  const { uri, from, callId, cseq } = request;
  return ["2543", uri, tagOf(from) ?? "", callId, String(cseq.number), via, method].join(" ");
}

function sentBy(via: Via): string {
  return viaText({ ...via, transport: "", parameters: new Map() });
}

/** The same for all copies of a request that proxies have forked and sent here by several ways. */
export function mergeKey({ from, callId, cseq }: SipRequest): string {
  return [tagOf(from) ?? "", callId, String(cseq.number), cseq.method].join(" ");
}
