/** Where a message goes. */

import type { SipSource } from "../user-agent.ts";

export interface Hop extends SipSource {
  /** The connection that a request came over, for the way back. Null: any connection to the address, or a new one. */
  readonly connection: number | null;
  /** Name for the certificate of a TLS server; null where only its address is known. */
  readonly serverName: string | null;
}

/** Called later, and at most once: the message does not arrive. The error says why, where that is known. */
export type SendFailed = (error?: Error) => void;

export function isReliable({ transport }: SipSource): boolean {
  return transport !== "udp";
}
