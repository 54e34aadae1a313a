/**
 * A compensation retry queue: removes the records of calls that did not start. If the connection to the database broke
 * while a call was written, its record may exist and cannot be removed at once. It would count against its account
 * until the next start of this process, so the removal is retried until the database is back.
 */

export type RemoveCall = (accountId: string, callId: string) => Promise<void>;

const RETRY_MS = 5_000;
/** Calls in the queue; a few hundred bytes each. The next start of the process finds the others. */
const MOST_WAITING = 10_000;

/** Rejects when the call cannot be removed now; the removal is then retried. */
export function openRemovalRetries(remove: RemoveCall, retryMs = RETRY_MS): RemoveCall {
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
        await remove(accountId, callId);
      } catch {
        // The caller has the error. While one fails, the others would fail as well.
        return;
      }
      waiting.delete(callId);
    }
  };
  return async (accountId, callId) => {
    try {
      await remove(accountId, callId);
    } catch (error) {
      if (waiting.size < MOST_WAITING) waiting.set(callId, accountId);
      retryLater();
      throw error;
    }
  };
}
