/**
 * Takes back calls that did not start. Where the connection to the database broke while one was written, nobody knows
 * whether it is there, and it cannot be taken back at once either: it would count against its account until this process is
 * started again, so it is tried until the database is back.
 */

export type Withdraw = (accountId: string, callId: string) => Promise<void>;

const RETRY_MS = 5_000;
/** Calls that wait for the database; a few hundred bytes each. What goes beyond is found by the next start. */
const MOST_WAITING = 10_000;

/** Rejects when the call cannot be taken back now; then that is tried again. */
export function openWithdrawals(withdraw: Withdraw, retryMs = RETRY_MS): Withdraw {
  const waiting = new Map<string, string>();
  let timer: NodeJS.Timeout | null = null;
  const retryLater = (): void => {
    timer ??= setTimeout(() => {
      void retry().finally(() => {
        timer = null;
        if (waiting.size > 0) retryLater();
      });
    }, retryMs).unref();
  };
  const retry = async (): Promise<void> => {
    for (const [callId, accountId] of waiting) {
      try {
        await withdraw(accountId, callId);
      } catch {
        // Whoever asked was told. As long as one fails so do the others.
        return;
      }
      waiting.delete(callId);
    }
  };
  return async (accountId, callId) => {
    try {
      await withdraw(accountId, callId);
    } catch (error) {
      if (waiting.size < MOST_WAITING) waiting.set(callId, accountId);
      retryLater();
      throw error;
    }
  };
}
