/** How many connections sources may have at a time. Pure. */

import { ConcurrencyLimit } from "../../../pacing/concurrency-limit.ts";
import { networkOf } from "./flood-gate.ts";

/** Connections in all: each may hold 98 KB of a message. */
export const MAX_CONNECTIONS = 2_000;
/** Of one address that is not known, or of one network of IPv6, in which a peer has as many addresses as it likes. */
export const MAX_OF_SOURCE = 20;
/**
 * Of one that is known: a trunk that opens a connection for each call. Any address that an account calls counts as known,
 * so a few of them must not take what the others need.
 */
export const MAX_OF_KNOWN_SOURCE = 500;
/** Of all sources that are not known: the rest is left for trunks and registrars. */
export const MAX_OF_UNKNOWN = 1_500;

const ALL = "all";

export class ConnectionLimit {
  readonly #ofSource = new ConcurrencyLimit(MAX_OF_SOURCE);
  readonly #ofKnownSource = new ConcurrencyLimit(MAX_OF_KNOWN_SOURCE);
  readonly #ofUnknown = new ConcurrencyLimit(MAX_OF_UNKNOWN);

  /** Returns what ends the connection, which may be called again. Null: there are too many. */
  enter(address: string, isKnown: boolean): (() => void) | null {
    if (isKnown) return this.#ofKnownSource.enter(networkOf(address));
    const leaveSource = this.#ofSource.enter(networkOf(address));
    if (leaveSource === null) return null;
    const leaveAll = this.#ofUnknown.enter(ALL);
    if (leaveAll === null) {
      leaveSource();
      return null;
    }
    return () => {
      leaveSource();
      leaveAll();
    };
  }
}
