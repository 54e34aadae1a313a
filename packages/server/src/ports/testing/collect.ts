/** Collects what an async iterable yields until it ends or throws. */
export interface Collected<T> {
  readonly parts: readonly T[];
  /** Null when it ended without a throw. */
  readonly error: Error | null;
}

/** Parts that one test reads before it gives up: far more than any reply of a test, so that a runaway stream fails. */
const MAX_PARTS = 100_000;

/** Reads to the end. `onPart` may abort or close something between two parts. */
export async function collect<T>(
  iterable: AsyncIterable<T>,
  onPart: (part: T, index: number) => void | Promise<void> = () => undefined,
): Promise<Collected<T>> {
  const parts: T[] = [];
  try {
    for await (const part of iterable) {
      parts.push(part);
      if (parts.length > MAX_PARTS) throw new Error("the stream does not end");
      await onPart(part, parts.length - 1);
    }
    return { parts, error: null };
  } catch (error) {
    return { parts, error: error instanceof Error ? error : new Error(`not an Error: ${String(error)}`) };
  }
}

/** A signal that nothing aborts. */
export function neverAborted(): AbortSignal {
  return new AbortController().signal;
}
