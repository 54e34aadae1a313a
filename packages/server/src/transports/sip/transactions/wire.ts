/** Where a message goes. */

import type { SipSource } from "../user-agent.ts";

export interface Hop extends SipSource {
  /** The connection that a request came over, for the way back. Null: any connection to the address, or a new one. */
  readonly connection: number | null;
  /** Name for the certificate of a TLS server; null where only its address is known. */
  readonly serverName: string | null;
}

export function isReliable({ transport }: SipSource): boolean {
  return transport !== "udp";
}
