/** Buffers the messages of a link until there is a listener, so that the first ones are not lost. */

import type { CallError } from "./call-error.ts";
import type { LinkListener } from "./link.ts";

/** Most buffered messages; a call starts with a handful. The oldest stay, because the order matters. */
const MAX_HELD = 1_000;

export class Inbox implements LinkListener {
  #target: LinkListener | null = null;
  #held: ((target: LinkListener) => void)[] = [];

  /** Sets the listener, which first gets the buffered messages. */
  attach(target: LinkListener): void {
    this.#target = target;
    for (const tell of this.#held.splice(0)) tell(target);
  }

  text(text: string): void {
    this.#tell((target) => target.text(text));
  }

  lost(): void {
    this.#tell((target) => target.lost());
  }

  found(): void {
    this.#tell((target) => target.found());
  }

  closed(error: CallError | null): void {
    this.#tell((target) => target.closed(error));
  }

  #tell(tell: (target: LinkListener) => void): void {
    if (this.#target !== null) tell(this.#target);
    else if (this.#held.length < MAX_HELD) this.#held.push(tell);
  }
}
