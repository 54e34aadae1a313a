/** Whose messages those of the user agent are. Pure. */

import type { SipCallMessage, SipCallOwner } from "../../../ports/sip-calls.ts";
import type { SipLogEntry, SipLogOwner } from "../user-agent.ts";

/** Messages that are kept of an INVITE until it is decided about; it and its repeats. */
export const MAX_UNDECIDED_MESSAGES = 20;
/** INVITEs that are followed, with those that were refused within the last half minute. */
const MAX_FOLLOWED = 30_000;

type Followed = { owner: SipCallOwner } | { waiting: SipLogEntry[] } | "refused";

/**
 * An INVITE has messages before it is known which call it becomes, and some never become one. Those of registrations
 * and checks belong to no call.
 */
export class CallMessages {
  readonly #messaged: (owner: SipCallOwner, message: SipCallMessage) => void;
  readonly #followed = new Map<string, Followed>();

  constructor(messaged: (owner: SipCallOwner, message: SipCallMessage) => void) {
    this.#messaged = messaged;
  }

  get size(): number {
    return this.#followed.size;
  }

  logged(entry: SipLogEntry): void {
    if (entry.kind !== "invite") return;
    const followed = this.#followed.get(entry.id);
    if (followed === "refused") return;
    if (followed === undefined) {
      if (this.#followed.size < MAX_FOLLOWED) this.#followed.set(entry.id, { waiting: [entry] });
    } else if ("owner" in followed) this.#messaged(followed.owner, messageOf(entry));
    else if (followed.waiting.length < MAX_UNDECIDED_MESSAGES) followed.waiting.push(entry);
  }

  /** A call of ours has begun. @param id of the invite, whose messages come later */
  begun(id: string, owner: SipCallOwner): void {
    this.#followed.set(id, { owner });
  }

  /** A call that came in is that of the owner. Without effect when its log has ended: nothing would remove it then. */
  owned(id: string, owner: SipCallOwner): void {
    const followed = this.#followed.get(id);
    if (typeof followed !== "object" || !("waiting" in followed)) return;
    this.#followed.set(id, { owner });
    for (const entry of followed.waiting) this.#messaged(owner, messageOf(entry));
  }

  refused(id: string): void {
    if (this.#followed.has(id)) this.#followed.set(id, "refused");
  }

  logEnded({ id }: SipLogOwner): void {
    this.#followed.delete(id);
  }
}

function messageOf({ direction, atMs, peer, own, text }: SipLogEntry): SipCallMessage {
  const [theirs, ours] = [placeText(peer), placeText(own)];
  const isSent = direction === "sent";
  return {
    direction,
    atMs,
    transport: peer.transport,
    source: isSent ? ours : theirs,
    destination: isSent ? theirs : ours,
    text,
  };
}

function placeText({ address, port }: { readonly address: string; readonly port: number | null }): string {
  const host = address.includes(":") ? `[${address}]` : address;
  return port === null ? host : `${host}:${String(port)}`;
}
