/** What the sockets have in common. */

import type { Hop } from "../transactions/wire.ts";
import type { SipTransportName } from "../user-agent.ts";

/** What a socket reports. */
export interface Inbound {
  /** False: the source has sent too many, and the message is not even parsed. */
  readonly admit: (address: string) => boolean;
  readonly isKnown: (address: string) => boolean;
  readonly received: (bytes: Buffer, hop: Hop) => void;
}

export type StreamTransport = Exclude<SipTransportName, "udp">;

export interface TlsOptions {
  readonly port: number;
  /** PEM. Without a certificate nothing is listened for, and calls out are possible. */
  readonly certificate: string | null;
  readonly key: string | null;
  /** PEM of further authorities that certificates of servers may be signed by. */
  readonly authorities?: string;
}

/** An IPv4 address that came over an IPv6 socket is written as IPv4; a zone is left out. */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address.split("%")[0] ?? address;
}
