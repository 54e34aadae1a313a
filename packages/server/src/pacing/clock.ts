/** Time for the live calls of a process. One ticker serves them all. */

/** Half a frame: egress jitter stays under it, and 100 calls cost some 1 % of a core in pumping. */
export const TICK_MS = 10;

export interface Clock {
  /** Monotonic, in ms, with fractions. */
  nowMs(): number;
  /** The wall clock, in ms since 1970. It may jump: read it once and count on with `nowMs`. */
  wallMs(): number;
  /** Calls `pump` about every `TICK_MS` until the returned function is called. */
  onTick(pump: (nowMs: number) => void): () => void;
  /** Calls `fire` once, after `delayMs`; the returned function cancels it. */
  after(delayMs: number, fire: () => void): () => void;
}

/** `setTimeout` fires at once beyond this; no delay of a call comes near it (24 days). */
const LONGEST_DELAY_MS = 2_147_483_647;

/** The machine's clock. Holds no timer while nothing is pumped. */
export function openClock(): Clock {
  const pumps = new Set<(nowMs: number) => void>();
  let interval: NodeJS.Timeout | null = null;

  const tick = () => {
    const nowMs = performance.now();
    for (const pump of pumps) pump(nowMs);
  };

  return {
    nowMs: () => performance.now(),
    wallMs: () => Date.now(),
    onTick: (pump) => {
      pumps.add(pump);
      interval ??= setInterval(tick, TICK_MS);
      return () => {
        pumps.delete(pump);
        if (pumps.size > 0 || interval === null) return;
        clearInterval(interval);
        interval = null;
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
