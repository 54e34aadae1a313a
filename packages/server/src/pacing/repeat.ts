/** Work that a process does again and again. */

export interface Loop {
  /** Waits for a run that is under way. */
  stop(): Promise<void>;
}

/** One run at a time; the wait begins when a run is over. */
export function repeat(
  work: () => Promise<void>,
  nextMs: () => number,
  firstMs: number,
  failed: (error: unknown) => void,
): Loop {
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  const schedule = (waitMs: number): void => {
    timer = setTimeout(() => {
      running = work()
        .catch(failed)
        .then(() => {
          if (!stopped) schedule(nextMs());
        });
    }, waitMs);
    timer.unref();
  };
  schedule(firstMs);
  return {
    async stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}
