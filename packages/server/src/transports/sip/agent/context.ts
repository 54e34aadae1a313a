/** What the parts of the user agent share. */

import { randomBytes } from "node:crypto";
import type { Clock } from "../../../pacing/clock.ts";
import { hostPortText, uriText } from "../message/uri.ts";
import { BRANCH_COOKIE, viaText } from "../message/via.ts";
import type { SipHeader, SipSource, UserAgentListener } from "../user-agent.ts";
import type { SipNetwork } from "../sockets/sockets.ts";
import type { Hop } from "../transactions/wire.ts";
import type { Transactions } from "../transactions/transactions.ts";
import type { MessageLog } from "./message-log.ts";
import type { Call } from "./call.ts";

export interface SipRandom {
  /** Unguessable, of letters and digits. */
  token(): string;
  /** From 0 to less than 1. */
  fraction(): number;
}

export const SYSTEM_RANDOM: SipRandom = {
  token: () => randomBytes(12).toString("hex"),
  fraction: () => randomBytes(4).readUInt32BE() / 2 ** 32,
};

export interface AgentContext {
  readonly clock: Clock;
  readonly random: SipRandom;
  readonly network: SipNetwork;
  readonly transactions: Transactions;
  readonly log: MessageLog;
  readonly listener: UserAgentListener;
  /** In what no single peer reads, such as Call-IDs. */
  readonly announcedAddress: string;
  /** In Via and Contact of messages to this address. */
  readonly announcedTowards: (peer: string) => string;
  /** @throws as `locate` */
  readonly locate: (uri: string) => Promise<readonly Hop[]>;
  /** An address that is written out and that requests may not go to. */
  readonly isRefused: (host: string) => boolean;
  /** Live dialogs by `dialogKey`. */
  readonly calls: Map<string, Call>;
  /** Calls that came in and are not over, by `callerKey`. */
  readonly callers: Set<string>;
}

export const ALLOW = "INVITE, ACK, CANCEL, BYE, OPTIONS, PRACK, UPDATE, INFO, REFER, NOTIFY";
/** Methods that are known and not allowed where they came. */
export const OTHER_METHODS: ReadonlySet<string> = new Set(["REGISTER", "SUBSCRIBE", "PUBLISH", "MESSAGE"]);
export const SUPPORTED_OPTIONS: readonly string[] = ["timer", "100rel", "norefersub"];

/** Fields that say what we can do. */
export const ABILITIES: readonly SipHeader[] = [
  { name: "allow", value: ALLOW },
  { name: "supported", value: SUPPORTED_OPTIONS.join(", ") },
];

/** A description in the body. */
export const SDP_TYPE: SipHeader = { name: "content-type", value: "application/sdp" };

function portOf({ network }: AgentContext, transport: SipSource["transport"]): number | null {
  return network.bound.find((bound) => bound.transport === transport)?.port ?? null;
}

export function newVia(
  context: AgentContext,
  { transport, address }: Pick<Hop, "transport" | "address">,
): { via: string; branch: string } {
  const branch = `${BRANCH_COOKIE}${context.random.token()}`;
  const via = viaText({
    transport: transport.toUpperCase(),
    host: context.announcedTowards(address),
    port: portOf(context, transport),
    parameters: new Map([
      ["rport", null],
      ["branch", branch],
    ]),
  });
  return { via, branch };
}

/**
 * @param user with its escapes, or null
 * @param isSips the request is for a `sips:` URI, so the answers to us must use TLS as well (RFC 3261, 8.1.1.8)
 */
export function contactFor(
  context: AgentContext,
  { transport, address }: Pick<Hop, "transport" | "address">,
  user: string | null,
  isSips = false,
): SipHeader {
  const uri = uriText({
    scheme: isSips ? "sips" : "sip",
    user,
    host: context.announcedTowards(address),
    port: portOf(context, transport),
    parameters: new Map(transport === "udp" || isSips ? [] : [["transport", transport]]),
    hasHeaders: false,
  });
  return { name: "contact", value: `<${uri}>` };
}

export function newCallId(context: AgentContext): string {
  return `${context.random.token()}@${hostPortText(context.announcedAddress, null)}`;
}
