/** The queue of outgoing data messages, which wait for a connection. */

import { CallError } from "./call-error.ts";
import type { Link } from "./link.ts";
import type { ClientMessage } from "./messages.ts";

/** Most UTF-8 bytes of one message, the limit of the service. */
const MAX_MESSAGE_BYTES = 256 * 1024;
/** Most queued messages; a person types a few in ten seconds. */
const MAX_WAITING = 100;
/** Most unsent bytes of the connection: with more, it is stuck. */
const MAX_UNSENT_BYTES = 1024 * 1024;

export class Outbox {
  readonly #waiting: string[] = [];

  /** @throws CallError `message_refused` */
  send(link: Link, message: ClientMessage): void {
    const text = JSON.stringify(message);
    if (new TextEncoder().encode(text).byteLength > MAX_MESSAGE_BYTES) {
      throw new CallError("message_refused", "The message is longer than 256 KiB.");
    }
    if (link.unsentBytes > MAX_UNSENT_BYTES) throw tooMuch();
    this.flush(link);
    if (this.#waiting.length === 0 && link.send(text)) return;
    if (this.#waiting.length >= MAX_WAITING) throw tooMuch();
    this.#waiting.push(text);
  }

  /** Sends the queued messages in order. */
  flush(link: Link): void {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      if (!link.send(next)) return;
      this.#waiting.shift();
    }
  }
}

function tooMuch(): CallError {
  return new CallError("message_refused", "Too many messages are waiting for the connection.");
}
