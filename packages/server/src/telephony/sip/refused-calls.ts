/** Counts the calls that came in and were refused, for one line of the log a minute. A scanner makes thousands. */

import type { Logger } from "pino";

export const REPORT_INTERVAL_MS = 60_000;
/** Sources that are counted apart within a minute; of a flood with invented senders the rest are counted together. */
const MAX_SOURCES = 1_000;
/** Sources that are named in the line. */
const NAMED_SOURCES = 3;

export class RefusedCalls {
  readonly #logger: Pick<Logger, "warn">;
  readonly #statuses = new Map<number, number>();
  readonly #sources = new Map<string, number>();
  #count = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(logger: Pick<Logger, "warn">) {
    this.#logger = logger;
    this.#timer = setInterval(() => this.#report(), REPORT_INTERVAL_MS).unref();
  }

  readonly add = (status: number, sourceAddress: string): void => {
    this.#count += 1;
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    const known = this.#sources.get(sourceAddress);
    if (known === undefined && this.#sources.size >= MAX_SOURCES) return;
    this.#sources.set(sourceAddress, (known ?? 0) + 1);
  };

  close(): void {
    clearInterval(this.#timer);
    this.#report();
  }

  #report(): void {
    if (this.#count === 0) return;
    const most = [...this.#sources].toSorted(([, one], [, other]) => other - one).slice(0, NAMED_SOURCES);
    this.#logger.warn(
      {
        count: this.#count,
        statuses: Object.fromEntries(this.#statuses),
        mostFrom: Object.fromEntries(most),
      },
      "incoming SIP calls were refused",
    );
    this.#count = 0;
    this.#statuses.clear();
    this.#sources.clear();
  }
}
