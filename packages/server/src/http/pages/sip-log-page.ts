/** The SIP log of a call as a text, at a temporary address. */

import { ApiError, Uuid } from "@parley/schema";
import { readSipMessages, type SipMessageRow } from "../../store/telephony/sip-messages.ts";
import type { HandlerDeps } from "../api/endpoint.ts";
import type { PlainRoute } from "./plain-routes.ts";

/** Its parameter `token` is the credential; queries are not logged. */
export function sipLogPath(callId: string, token: string): string {
  return `/calls/${callId}/sip_log_text?token=${token}`;
}

export function sipLogRoute(deps: HandlerDeps): PlainRoute {
  return {
    method: "GET",
    path: "/calls/{call_id}/sip_log_text",
    maxBytes: 0,
    frequent: false,
    async answer({ params, url }) {
      const callId = Uuid.safeParse(params["call_id"]);
      const token = new URLSearchParams(url.split("?")[1] ?? "").get("token") ?? "";
      const target = callId.success ? deps.sipLogLinks.read(token, callId.data, deps.http.nowMs()) : null;
      if (target === "expired") {
        throw new ApiError(
          "gone",
          "The address of the SIP log has expired; get a new one with GET sip_logs.",
        );
      }
      const messages =
        target === null ? [] : await readSipMessages(deps.http.store.db, target.accountId, target.callId);
      // The same answer to a wrong token and to a call that was deleted.
      if (messages.length === 0) throw new ApiError("not_found", "There is no such SIP log.");
      return {
        status: 200,
        headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
        body: sipLogText(messages),
      };
    },
  };
}

/** Each message below a line with its time, direction and addresses. */
export function sipLogText(messages: readonly SipMessageRow[]): string {
  return messages
    .map(({ at, isSent, transport, source, destination, text }) => {
      const head = `--- ${at} ${isSent ? "sent" : "received"} ${transport} ${source} -> ${destination}`;
      return `${head}\n${text.replaceAll("\r\n", "\n").trimEnd()}\n`;
    })
    .join("\n");
}
