/** Work of a sweep in portions, so that one sweep is bounded and a shutdown waits for one portion only. */

export interface PortionLimits {
  /** Portions of one run. What is left waits for the next one. */
  readonly most: number;
  /** No portion begins once it aborts. */
  readonly signal: AbortSignal;
}

/** @param portion resolves with whether there may be more */
export async function inPortions(
  { most, signal }: PortionLimits,
  portion: () => Promise<boolean>,
): Promise<void> {
  for (let done = 0; done < most && !signal.aborted; done += 1) {
    if (!(await portion())) return;
  }
}
