/** Limits the open connections of one client address, so that one machine cannot take those of all others. */

import { ConcurrencyLimit } from "../pacing/concurrency-limit.ts";
import { clientOf } from "./api/rate-limit.ts";

export interface ConnectionCountsOptions {
  /** 0: no limit. */
  readonly maxPerAddress: number;
  /** A proxy has the connections of all its clients. */
  readonly isTrustedProxy: (address: string) => boolean;
}

/** Ends the count of a connection: it is closed, or belongs to a call now. Idempotent. */
export type Release = () => void;

export class ConnectionCounts {
  readonly #isTrustedProxy: ConnectionCountsOptions["isTrustedProxy"];
  readonly #limit: ConcurrencyLimit;

  constructor({ maxPerAddress, isTrustedProxy }: ConnectionCountsOptions) {
    this.#isTrustedProxy = isTrustedProxy;
    this.#limit = new ConcurrencyLimit(maxPerAddress === 0 ? Number.POSITIVE_INFINITY : maxPerAddress);
  }

  /** Null: the address has too many connections. */
  admit(address: string): Release | null {
    const client = clientOf(address);
    if (isLoopback(client) || this.#isTrustedProxy(address)) return () => undefined;
    return this.#limit.enter(client);
  }
}

/** Programs of this machine, such as a proxy that nobody has named. */
function isLoopback(client: string): boolean {
  return client.startsWith("127.") || client === clientOf("::1");
}
