/** Ends a request whose server says nothing for too long, before or within its answer. */

export interface StallWatch {
  /** Aborts at the limit. */
  readonly signal: AbortSignal;
  /** Starts the limit again. */
  readonly kick: () => void;
  /** Until the next `kick`, for example while the reader works on a part. */
  readonly pause: () => void;
}

/** Begins at once; the caller pauses it at the end. */
export function watchStalls(timeoutMs: number): StallWatch {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const pause = (): void => {
    clearTimeout(timer);
  };
  const kick = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      controller.abort();
    }, timeoutMs);
  };
  kick();
  return { signal: controller.signal, kick, pause };
}
