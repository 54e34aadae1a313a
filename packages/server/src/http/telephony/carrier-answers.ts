/** Requests of carriers, as they were signed, and the answers to them. */

import { ApiError } from "@parley/schema";
import type { CarrierRequest } from "../../ports/carriers.ts";
import type { CarrierReply } from "../../telephony/api.ts";
import type { Answer, HandlerDeps, ReceivedRequest } from "../api/endpoint.ts";

/** Carriers sign the public URL, so the `Host` header of the request does not count. */
export function signedBy(
  { url, headers, body }: ReceivedRequest,
  { publicUrl }: Pick<HandlerDeps, "publicUrl">,
): CarrierRequest {
  return { url: `${publicUrl()}${url}`, headers, body: body ?? new Uint8Array() };
}

const XML = { "content-type": "text/xml; charset=utf-8" };

/** @throws ApiError (403) */
export function carrierAnswer(reply: CarrierReply): {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  if (reply.kind === "xml") return { status: 200, text: reply.xml, headers: XML };
  if (reply.kind === "done") return { status: 204, text: "", headers: {} };
  const detail =
    reply.kind === "agent_not_allowed"
      ? "The account does not let this carrier call this agent."
      : "The request needs the signature of a carrier that the account has configured.";
  throw new ApiError("forbidden", detail);
}

/** The same for routes outside the interface. */
export function plainAnswer(reply: CarrierReply): Answer {
  const { status, text, headers } = carrierAnswer(reply);
  return { status, headers, body: text === "" ? null : text };
}
