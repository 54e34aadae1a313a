/** Runs long work in short slices, so that the page stays responsive. */

/** Below the 16 ms of one frame. */
const SLICE_MS = 8;

/**
 * Runs the steps to their end. `onPause` is called between slices.
 * @throws the error of a step, or the signal's reason after an abort
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
