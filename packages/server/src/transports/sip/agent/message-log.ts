/** Messages of calls, registrations and pings for their logs, without secrets. */

import type { Clock } from "../../../pacing/clock.ts";
import { headerOf } from "../message/headers.ts";
import type { RequestText, ResponseText } from "../message/message.ts";
import { parseNameAddr, tagOf } from "../message/name-addr.ts";
import { serialize } from "../message/serialize.ts";
import { TRANSACTION_MS } from "../transactions/timers.ts";
import type { SipLogEntry, SipLogOwner, SipSource } from "../user-agent.ts";
import { masked } from "./masking.ts";

/** Of one message. A description with many codecs has 3,000. */
export const MAX_LOGGED_CHARS = 8_000;
/** Of one call; one with a refresh a minute and tones by INFO has a few hundred. */
export const MAX_LOGGED_MESSAGES = 500;

interface Owner extends SipLogOwner {
  entries: number;
  isEnding: boolean;
}

/**
 * The messages that belong together: those with this Call-ID of which one side has this tag. The Call-ID alone is not
 * enough: a stranger who knows that of a call could otherwise get its messages into a log of their own.
 */
interface LogKey {
  readonly callId: string;
  /** The tag of whoever began: of From in the first request. */
  readonly tag: string | null;
}

export interface MessageLogListener {
  logged(entry: SipLogEntry): void;
  /** No message of it follows. */
  logEnded(owner: SipLogOwner): void;
}

export class MessageLog {
  readonly #clock: Clock;
  readonly #listener: MessageLogListener;
  readonly #ownAddress: (peer: SipSource) => SipLogEntry["own"];
  readonly #owners = new Map<string, Map<string, Owner>>();

  constructor(
    clock: Clock,
    listener: MessageLogListener,
    ownAddress: (peer: SipSource) => SipLogEntry["own"],
  ) {
    this.#clock = clock;
    this.#listener = listener;
    this.#ownAddress = ownAddress;
  }

  /** Without effect while another one with the same key goes on. */
  begin(key: LogKey, owner: SipLogOwner): void {
    const tag = key.tag ?? "";
    const former = this.#owners.get(key.callId)?.get(tag);
    if (former?.isEnding === false) return;
    if (former !== undefined) this.#forget(key, former);
    const made: Owner = { id: owner.id, kind: owner.kind, entries: 0, isEnding: false };
    const ofCallId = this.#owners.get(key.callId) ?? new Map<string, Owner>();
    ofCallId.set(tag, made);
    this.#owners.set(key.callId, ofCallId);
  }

  /** Repeated messages may come for a while. */
  end(key: LogKey, id: string): void {
    const owner = this.#owners.get(key.callId)?.get(key.tag ?? "");
    if (owner === undefined || owner.id !== id || owner.isEnding) return;
    owner.isEnding = true;
    this.#clock.after(TRANSACTION_MS, () => {
      this.#forget(key, owner);
    });
  }

  add(direction: "sent" | "received", message: RequestText | ResponseText, peer: SipSource): void {
    const owner = this.#ownerOf(message);
    if (owner === null || owner.entries >= MAX_LOGGED_MESSAGES) return;
    owner.entries += 1;
    let text: string | null = null;
    this.#listener.logged({
      id: owner.id,
      kind: owner.kind,
      direction,
      atMs: this.#clock.wallMs(),
      peer: { transport: peer.transport, address: peer.address, port: peer.port },
      own: this.#ownAddress(peer),
      // Written when it is read: most messages of refused strangers never are.
      get text() {
        text ??= serialize(masked(message)).toString("utf8").slice(0, MAX_LOGGED_CHARS);
        return text;
      },
    });
  }

  #ownerOf(message: RequestText | ResponseText): Owner | null {
    const callId = headerOf(message, "call-id");
    const owners = callId === null ? undefined : this.#owners.get(callId);
    if (owners === undefined) return null;
    for (const name of ["from", "to"]) {
      const address = parseNameAddr(headerOf(message, name) ?? "");
      const owner = address === null ? undefined : owners.get(tagOf(address) ?? "");
      if (owner !== undefined) return owner;
    }
    return null;
  }

  #forget({ callId, tag }: LogKey, owner: Owner): void {
    const ofCallId = this.#owners.get(callId);
    if (ofCallId?.get(tag ?? "") !== owner) return;
    ofCallId.delete(tag ?? "");
    if (ofCallId.size === 0) this.#owners.delete(callId);
    this.#listener.logEnded({ id: owner.id, kind: owner.kind });
  }
}
