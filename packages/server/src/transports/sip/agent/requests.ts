/** Checks of a request before anything of it is used (RFC 3261, 8.2). */

import { dialogOfRequest } from "../dialogs/dialog.ts";
import { isTooShort, MIN_REFRESH_S } from "../dialogs/refresh-timer.ts";
import { headerOf, listOf, tokensOf } from "../message/headers.ts";
import type { SipRequest } from "../message/message.ts";
import type { ResponseParts } from "../message/serialize.ts";
import { SUPPORTED_OPTIONS } from "./context.ts";

/** Of every request but ACK and CANCEL. Null: nothing is wrong. */
export function unsupported(request: SipRequest): ResponseParts | null {
  const unknown = tokensOf(request, "require").filter((option) => !SUPPORTED_OPTIONS.includes(option));
  if (unknown.length === 0) return null;
  return { status: 420, headers: [{ name: "unsupported", value: unknown.join(", ") }] };
}

/** Whether an answer may have a session description; without Accept it may (RFC 3261, 20.1). */
function takesDescriptions(request: SipRequest): boolean {
  const types = listOf(request, "accept");
  if (types === null || types.length === 0) return true;
  return types.some((type) => /^(?:\*\/\*|application\/(?:\*|sdp))\s*(?:;|$)/i.test(type.trim()));
}

/** Of an INVITE that begins a call. */
export function refusalOf(request: SipRequest): ResponseParts | null {
  const type = (headerOf(request, "content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (request.body.length > 0 && type !== "application/sdp") {
    return { status: 415, headers: [{ name: "accept", value: "application/sdp" }] };
  }
  const encoding = headerOf(request, "content-encoding")?.toLowerCase() ?? "identity";
  if (encoding !== "identity")
    return { status: 415, headers: [{ name: "accept-encoding", value: "identity" }] };
  if (!takesDescriptions(request)) return { status: 406, reason: "Not Acceptable" };
  // The call that is to be replaced is not one of ours: no call of ours can be (RFC 3891, 3).
  if (headerOf(request, "replaces") !== null) return { status: 481 };
  if (isTooShort(request))
    return { status: 422, headers: [{ name: "min-se", value: String(MIN_REFRESH_S) }] };
  if (dialogOfRequest(request, "") === null)
    return { status: 400, reason: "Contact is missing or not well-formed" };
  return null;
}
