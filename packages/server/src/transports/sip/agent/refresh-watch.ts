/** When a call is refreshed and when it has expired (RFC 4028), on the clock. */

import type { Clock } from "../../../pacing/clock.ts";
import { delaysOf, type RefreshTimer } from "../dialogs/refresh-timer.ts";

export class RefreshWatch {
  readonly #clock: Clock;
  readonly #refresh: () => void;
  readonly #expired: () => void;
  #stops: (() => void)[] = [];
  timer: RefreshTimer | null = null;

  constructor(clock: Clock, refresh: () => void, expired: () => void) {
    this.#clock = clock;
    this.#refresh = refresh;
    this.#expired = expired;
  }

  /** After each refresh of either side. Null: the peer does not know this extension. */
  restart(timer: RefreshTimer | null): void {
    this.stop();
    this.timer = timer;
    if (timer === null) return;
    const { refreshMs, expireMs } = delaysOf(timer);
    this.#stops.push(this.#clock.after(expireMs, this.#expired));
    if (timer.isOurs) this.#stops.push(this.#clock.after(refreshMs, this.#refresh));
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }
}
