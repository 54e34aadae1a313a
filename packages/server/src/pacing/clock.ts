/** Time for the live calls of a process. One ticker serves them all. */

/** Half a frame: egress jitter stays under it, and 100 calls cost some 1 % of a core in pumping. */
export const TICK_MS = 10;

export interface Clock {
  /** Monotonic, in ms, with fractions. */
  nowMs(): number;
  /** The wall clock, in ms since 1970. It may jump: read it once and count on with `nowMs`. */
  wallMs(): number;
  /**
   * Calls `pump` every `TICK_MS` until the returned function is called. `tickMs` is the time at which the tick was due: it
   * is a multiple of `TICK_MS` after the one before, however late the tick is. A frame that is due between two ticks is
   * then always as late as the frames before it, instead of slipping to the next tick every now and then.
   */
  onTick(pump: (tickMs: number) => void): () => void;
  /** Calls `fire` once, after `delayMs`; the returned function cancels it. */
  after(delayMs: number, fire: () => void): () => void;
}

/** `setTimeout` fires at once beyond this; no delay of a call comes near it (24 days). */
const LONGEST_DELAY_MS = 2_147_483_647;

/** The machine's clock. Holds no timer while nothing is pumped. */
export function openClock(): Clock {
  const pumps = new Set<(tickMs: number) => void>();
  let timer: NodeJS.Timeout | null = null;
  let dueMs = 0;

  const wait = () => {
    // Timers count whole milliseconds. Rounded up, they fire at most a fraction of one too early.
    timer = setTimeout(tick, Math.max(1, Math.ceil(dueMs - performance.now())));
  };

  const tick = () => {
    // Those that a standstill left out are not made up for.
    const missed = Math.max(0, Math.floor((performance.now() - dueMs) / TICK_MS));
    const tickMs = dueMs + missed * TICK_MS;
    dueMs = tickMs + TICK_MS;
    wait();
    for (const pump of pumps) pump(tickMs);
  };

  return {
    nowMs: () => performance.now(),
    wallMs: () => Date.now(),
    onTick: (pump) => {
      pumps.add(pump);
      if (timer === null) {
        dueMs = performance.now() + TICK_MS;
        wait();
      }
      return () => {
        pumps.delete(pump);
        if (pumps.size > 0 || timer === null) return;
        clearTimeout(timer);
        timer = null;
      };
    },
    after: (delayMs, fire) => {
      const timer = setTimeout(fire, Math.min(Math.max(0, delayMs), LONGEST_DELAY_MS));
      return () => {
        clearTimeout(timer);
      };
    },
  };
}
