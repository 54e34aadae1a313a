/** Wakes the tool that waits for a transfer when a callback of the carrier comes to its own process. */

export interface TransferWaits {
  /** Resolves when the transfer has changed, after `limitMs`, or with the abort, whichever comes first. */
  readonly changed: (transferId: string, limitMs: number, signal: AbortSignal) => Promise<void>;
  readonly wake: (transferId: string) => void;
}

export function openTransferWaits(): TransferWaits {
  const waiting = new Map<string, () => void>();
  return {
    changed: (transferId, limitMs, signal) =>
      new Promise((resolve) => {
        const settle = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", settle);
          waiting.delete(transferId);
          resolve();
        };
        const timer = setTimeout(settle, limitMs);
        waiting.set(transferId, settle);
        signal.addEventListener("abort", settle);
        if (signal.aborted) settle();
      }),
    wake: (transferId) => waiting.get(transferId)?.(),
  };
}
