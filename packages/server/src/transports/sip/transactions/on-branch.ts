/** Requests that belong to the transaction of another one. */

import { headerOf, listOf } from "../message/headers.ts";
import { NO_BODY, type RequestText } from "../message/message.ts";

/** ACK of a refused INVITE, and CANCEL: they repeat the first Via, and so the branch (RFC 3261, 9.1 and 17.1.1.3). */
export function requestOnBranch(
  { uri, headers }: RequestText,
  method: "ACK" | "CANCEL",
  to: string | null,
): RequestText {
  const message = { headers };
  const [via = ""] = listOf(message, "via") ?? [];
  const number = headerOf(message, "cseq")?.split(" ")[0] ?? "1";
  const kept = ["from", "call-id", "route", "max-forwards"];
  return {
    kind: "request",
    method,
    uri,
    headers: [
      { name: "via", value: via },
      ...headers.filter(({ name }) => kept.includes(name)),
      { name: "to", value: to ?? headerOf(message, "to") ?? "" },
      { name: "cseq", value: `${number} ${method}` },
    ],
    body: NO_BODY,
  };
}
