/** Messages of calls, registrations and pings for their logs, without secrets. */

import type { Clock } from "../../../pacing/clock.ts";
import type { RequestText, ResponseText } from "../message/message.ts";
import { serialize } from "../message/serialize.ts";
import { TRANSACTION_MS } from "../transactions/timers.ts";
import type { SipLogEntry, SipSource } from "../user-agent.ts";
import { masked } from "./masking.ts";

/** Of one message. A description with many codecs has 3,000. */
export const MAX_LOGGED_CHARS = 8_000;
/** Of one call; one with a refresh a minute and tones by INFO has a few hundred. */
const MAX_ENTRIES = 500;

interface Owner {
  readonly id: string;
  entries: number;
}

export class MessageLog {
  readonly #clock: Clock;
  readonly #logged: (entry: SipLogEntry) => void;
  readonly #owners = new Map<string, Owner>();

  constructor(clock: Clock, logged: (entry: SipLogEntry) => void) {
    this.#clock = clock;
    this.#logged = logged;
  }

  begin(callId: string, id: string): void {
    this.#owners.set(callId, { id, entries: 0 });
  }

  /** Repeated messages may come for a while. */
  end(callId: string): void {
    const owner = this.#owners.get(callId);
    this.#clock.after(TRANSACTION_MS, () => {
      if (this.#owners.get(callId) === owner) this.#owners.delete(callId);
    });
  }

  add(direction: "sent" | "received", message: RequestText | ResponseText, peer: SipSource): void {
    const callId = message.headers.find(({ name }) => name === "call-id")?.value;
    const owner = callId === undefined ? undefined : this.#owners.get(callId);
    if (owner === undefined || owner.entries >= MAX_ENTRIES) return;
    owner.entries += 1;
    this.#logged({
      id: owner.id,
      direction,
      atMs: this.#clock.wallMs(),
      peer: { transport: peer.transport, address: peer.address, port: peer.port },
      text: serialize(masked(message)).toString("utf8").slice(0, MAX_LOGGED_CHARS),
    });
  }
}
