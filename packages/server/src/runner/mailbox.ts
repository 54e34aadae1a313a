/**
 * The event queue of a call. An event is handled at once when none is being handled; events that result from it are
 * queued, so handling is never nested.
 */

/**
 * Limit of queued events. They come from effects that answer at once, a handful per event; a thousand means that
 * handling feeds itself.
 */
const WAITING_LIMIT = 1_000;
/** Events handled in one go before it counts as a loop that never ends. */
const RUN_LIMIT = 10_000;

export class Mailbox<Event> {
  readonly #handle: (event: Event) => void;
  readonly #overflowed: (error: Error) => void;
  #waiting: Event[] = [];
  #handling = false;
  #closed = false;

  /**
   * @param handle must not throw
   * @param overflowed a limit was passed; the mailbox has been emptied and closed
   */
  constructor(handle: (event: Event) => void, overflowed: (error: Error) => void) {
    this.#handle = handle;
    this.#overflowed = overflowed;
  }

  post(event: Event): void {
    if (this.#closed) return;
    if (this.#waiting.length >= WAITING_LIMIT) {
      this.#overflow("too many events are waiting");
      return;
    }
    this.#waiting.push(event);
    if (this.#handling) return;
    this.#handling = true;
    let handled = 0;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      handled += 1;
      if (handled > RUN_LIMIT) {
        this.#overflow("an endless series of events");
        break;
      }
      this.#handle(next);
    }
    this.#handling = false;
  }

  /** Drops queued events and all later ones. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#waiting = [];
  }

  #overflow(reason: string): void {
    this.close();
    this.#overflowed(new Error(`mailbox: ${reason}`));
  }
}
