/** Long work in short pieces, between which the page answers to its reader. */

/** Below the 16 ms of one picture. */
const SLICE_MS = 8;

/**
 * Runs the steps to their end. `onPause` is called between slices.
 * @throws what a step throws; the signal's reason when it is aborted
 */
export async function inSlices(
  steps: Iterator<void>,
  signal: AbortSignal,
  onPause?: () => void,
): Promise<void> {
  for (;;) {
    const endMs = performance.now() + SLICE_MS;
    do {
      signal.throwIfAborted();
      if (steps.next().done === true) return;
    } while (performance.now() < endMs);
    onPause?.();
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
