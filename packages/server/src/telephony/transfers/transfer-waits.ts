/** Wakes the tools that wait for a transfer when a callback of the carrier comes to their own process. */

export interface TransferWaits {
  /** Resolves when the transfer has changed, after `limitMs`, or with the abort, whichever comes first. */
  readonly changed: (transferId: string, limitMs: number, signal: AbortSignal) => Promise<void>;
  readonly wake: (transferId: string) => void;
}

export function openTransferWaits(): TransferWaits {
  // That of the caller, and in a warm transfer that of the called person.
  const waiting = new Map<string, Set<() => void>>();
  return {
    changed: (transferId, limitMs, signal) =>
      new Promise((resolve) => {
        const settle = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", settle);
          const others = waiting.get(transferId);
          others?.delete(settle);
          if (others?.size === 0) waiting.delete(transferId);
          resolve();
        };
        const timer = setTimeout(settle, limitMs);
        waiting.set(transferId, (waiting.get(transferId) ?? new Set()).add(settle));
        signal.addEventListener("abort", settle);
        if (signal.aborted) settle();
      }),
    wake: (transferId) => [...(waiting.get(transferId) ?? [])].forEach((settle) => settle()),
  };
}
