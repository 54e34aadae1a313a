/** Tells the operator about lost spans: at once, then at most once a minute with their number. */

const TELL_EVERY_MS = 60_000;

export interface Losses {
  add(count: number, reason: string): void;
  /** Tells now what was not told yet. */
  tell(): void;
}

export function countLosses(warn: (message: string) => void, nowMs: () => number): Losses {
  let untold = 0;
  let latest = "";
  let toldAtMs = Number.NEGATIVE_INFINITY;
  const tell = (): void => {
    if (untold === 0) return;
    warn(`the trace collector did not take ${String(untold)} spans: ${latest}`);
    untold = 0;
    toldAtMs = nowMs();
  };
  return {
    add(count, reason) {
      untold += count;
      latest = reason;
      if (nowMs() - toldAtMs >= TELL_EVERY_MS) tell();
    },
    tell,
  };
}
