/** Limits the open connections of one client address, so that one machine cannot take those of all others. */

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
  readonly #options: ConnectionCountsOptions;
  /** Has an entry only for addresses with a connection, and connections are limited in all. */
  readonly #open = new Map<string, number>();

  constructor(options: ConnectionCountsOptions) {
    this.#options = options;
  }

  /** Null: the address has too many connections. */
  admit(address: string): Release | null {
    const { maxPerAddress, isTrustedProxy } = this.#options;
    const client = clientOf(address);
    if (maxPerAddress === 0 || isLoopback(client) || isTrustedProxy(address)) return () => undefined;
    const open = this.#open.get(client) ?? 0;
    if (open >= maxPerAddress) return null;
    this.#open.set(client, open + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.#open.get(client) ?? 0) - 1;
      if (left > 0) this.#open.set(client, left);
      else this.#open.delete(client);
    };
  }
}

/** Programs of this machine, such as a proxy that nobody has named. */
function isLoopback(client: string): boolean {
  return client.startsWith("127.") || client === clientOf("::1");
}
