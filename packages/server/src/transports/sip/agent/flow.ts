/** The way that a peer's messages came, for requests back to it. */

import { isIP } from "node:net";
import { parseUri } from "../message/uri.ts";
import type { RequestText, ResponseText } from "../message/message.ts";
import type { Hop } from "../transactions/wire.ts";
import type { AgentContext } from "./context.ts";
import { sendGuarded } from "../sockets/key-guard.ts";

/**
 * Whether a request to this URI goes back by the flow. A peer behind an address translation writes its private address
 * into Contact, and one that connects to us writes the port of its side: both are reached by the flow alone.
 */
export function flowLeadsTo(context: AgentContext, uri: string, flow: Hop): boolean {
  const parsed = parseUri(uri);
  if (parsed === null || context.isRefused(parsed.host)) return true;
  if (isIP(parsed.host) === 0 || parsed.host !== flow.address) return false;
  if (flow.connection !== null) return context.network.isOpen(flow.connection);
  return (
    flow.transport === "udp" && (parsed.port ?? 5060) === flow.port && !parsed.parameters.has("transport")
  );
}

/** Outside of transactions: an ACK, or an answer that is not repeated. */
export function sendOnce(context: AgentContext, message: RequestText | ResponseText, hop: Hop): void {
  sendGuarded(context, message, hop, () => undefined);
}
