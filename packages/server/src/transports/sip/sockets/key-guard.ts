/**
 * Keys of SRTP are in session descriptions, so these go over TLS only (RFC 4568, section 7). Whoever writes a description
 * cannot know its way: a redirection, a Contact or a route of the peer may lead to UDP.
 */

import type { RequestText, ResponseText } from "../message/message.ts";
import { hasKeys } from "../sdp/crypto.ts";
import { serialize } from "../message/serialize.ts";
import type { Hop, SendFailed } from "../transactions/wire.ts";
import { NotSent } from "./send-failure.ts";
import type { SipNetwork } from "./sockets.ts";

export const KEYS_WITHOUT_TLS = "Keys of SRTP are sent over TLS only";

interface Outlet {
  readonly network: SipNetwork;
  readonly log: { add(direction: "sent", message: RequestText | ResponseText, hop: Hop): void };
}

/** Sends the message and logs it, or fails where it would show keys. */
export function sendGuarded(
  { network, log }: Outlet,
  message: RequestText | ResponseText,
  hop: Hop,
  failed: SendFailed,
): void {
  if (hop.transport !== "tls" && hasKeys(message.body)) {
    queueMicrotask(() => failed(new NotSent(KEYS_WITHOUT_TLS)));
    return;
  }
  log.add("sent", message, hop);
  network.send(serialize(message), hop, failed);
}
