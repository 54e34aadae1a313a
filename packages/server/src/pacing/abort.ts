/** Aborts as the ports promise them: always an `AbortError`, whatever reason the signal carries. */

export function abortError(): DOMException {
  return new DOMException("aborted", "AbortError");
}

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortError();
}
