/** The user agent over real sockets. */

import { isIP } from "node:net";
import type { Clock } from "../../../pacing/clock.ts";
import { addressAllowed, type AllowedTargets } from "../../../net/address-filter.ts";
import { hostAllowed } from "../../../net/target-url.ts";
import { openSipDns } from "../routing/dns.ts";
import type { SipDns } from "../routing/locate.ts";
import type { FloodLimits } from "../sockets/flood-gate.ts";
import type { TlsOptions } from "../sockets/inbound.ts";
import { AskedPeers } from "../sockets/asked-peers.ts";
import { openSockets, type NetworkListener, type SipNetwork } from "../sockets/sockets.ts";
import type { TransactionLimits } from "../transactions/transactions.ts";
import type { SipUserAgent, UserAgentListener } from "../user-agent.ts";
import { SYSTEM_RANDOM, type SipRandom } from "./context.ts";
import { ownAddresses, type OwnAddresses } from "../sockets/own-addresses.ts";
import { UserAgent } from "./user-agent-core.ts";

export interface UserAgentOptions {
  readonly clock: Clock;
  /** Of the sockets: an address of this machine, `0.0.0.0` or `::`. */
  readonly bind: string;
  /** Of UDP and TCP; 0 chooses one. */
  readonly port: number;
  /** Null: TLS is neither listened for nor used. */
  readonly tls: TlsOptions | null;
  /** In Via and Contact; null takes the bound address, or the first public one of this machine. */
  readonly announcedAddress: string | null;
  /** In place of the announced address and those of the interfaces. */
  readonly addresses?: OwnAddresses;
  /** Private addresses that requests of users may go to. */
  readonly allowed: AllowedTargets;
  /** Sources that may send more: trunks and registrars of accounts. Called for each message, before it is parsed. */
  readonly isKnown: (address: string) => boolean;
  readonly listener: UserAgentListener;
  readonly dns?: SipDns;
  readonly random?: SipRandom;
  readonly floodLimits?: FloodLimits;
  readonly transactionLimits?: Partial<TransactionLimits>;
  /** In place of sockets. */
  readonly openNetwork?: (listener: NetworkListener) => Promise<SipNetwork>;
}

/** @throws when an address cannot be bound */
export async function openUserAgent(options: UserAgentOptions): Promise<SipUserAgent> {
  const { clock, bind, port, tls, floodLimits } = options;
  const asked = new AskedPeers();
  const isKnown = (address: string): boolean => options.isKnown(address) || asked.has(address, clock.nowMs());
  let agent: UserAgent | null = null;
  const listener: NetworkListener = {
    received: (bytes, hop) => {
      agent?.received(bytes, hop);
    },
  };
  const open =
    options.openNetwork ??
    ((to: NetworkListener) =>
      openSockets({
        clock,
        bind,
        port,
        tls,
        isKnown,
        listener: to,
        ...(floodLimits === undefined ? {} : { floodLimits }),
      }));
  const network = await open(listener);
  agent = new UserAgent({
    clock,
    network,
    listener: options.listener,
    isKnown: options.isKnown,
    asked: (address) => asked.note(address, clock.nowMs()),
    dns: options.dns ?? openSipDns(),
    random: options.random ?? SYSTEM_RANDOM,
    allowed: options.allowed,
    addresses: options.addresses ?? ownAddresses(bind, options.announcedAddress),
    transports: tls === null ? ["udp", "tcp"] : ["udp", "tcp", "tls"],
    families: bind === "::" ? [4, 6] : [isIP(bind) === 6 ? 6 : 4],
    isRefused: (host) =>
      isIP(host) === 0 ? !hostAllowed(host, options.allowed) : !addressAllowed(host, options.allowed),
    ...(options.transactionLimits === undefined ? {} : { limits: options.transactionLimits }),
  });
  return agent;
}
