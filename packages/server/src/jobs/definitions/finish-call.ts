/** The work after the end of a joined call: its summaries, then its billing (D174). */

import { inTransaction, type Db } from "../../store/database/db.ts";
import { settleCall, type Metering } from "../../store/accounts/metering.ts";
import type { JobDefinition, JobHandler } from "./job.ts";

export interface EndedCall {
  readonly accountId: string;
  readonly callId: string;
}

/** For a call whose last attempt was cut off or failed: notes what is missing, and bills it unless upkeep has. */
export const unfinishedCallJob: JobDefinition<EndedCall> = {
  name: "unfinished-call",
  read: readEndedCall,
  atOnce: 1,
  limitSeconds: 30,
  retries: { limit: 5, delaySeconds: 10, maxDelaySeconds: 60 },
};

export const finishCallJob: JobDefinition<EndedCall> = {
  name: "finish-call",
  read: readEndedCall,
  atOnce: 8,
  // Half a minute for the summaries of the call, and as long for the database.
  limitSeconds: 60,
  // A call is final within a minute of its end; upkeep settles what fails longer or waits for others.
  retries: { limit: 5, delaySeconds: 2, maxDelaySeconds: 10 },
  givenUp: unfinishedCallJob,
};

/** Parser of the data of any job about one call. @throws when it is not such data */
export function readEndedCall(data: unknown): EndedCall {
  if (typeof data === "object" && data !== null && "accountId" in data && "callId" in data) {
    const { accountId, callId } = data;
    if (typeof accountId === "string" && typeof callId === "string") return { accountId, callId };
  }
  throw new Error("The job names no call.");
}

export interface FinishCallDeps {
  readonly db: Db;
  readonly metering: Metering;
  /** Runs before the billing of the call, so it takes 30 s at most; rejects to be retried. */
  readonly beforeBilling: (call: EndedCall, signal: AbortSignal) => Promise<void>;
  /** Queues the work after the billing, in its transaction; the function that it returns is called after the commit. */
  readonly afterBilling: (tx: Db, call: EndedCall) => Promise<() => void>;
  /** Call it after a transaction that may have written webhook deliveries. */
  readonly deliver: () => void;
}

export function finishCall(deps: FinishCallDeps): JobHandler<EndedCall> {
  const { db, metering, beforeBilling, afterBilling, deliver } = deps;
  return async ({ data, signal }) => {
    await beforeBilling(data, signal);
    const wakeNext = await inTransaction(db, async (tx) => {
      // Not pending any more: an attempt that was cut off afterwards or upkeep settled it, or it was deleted.
      if (!(await settleCall(tx, data.accountId, data.callId, metering))) return null;
      return afterBilling(tx, data);
    });
    if (wakeNext === null) return;
    deliver();
    wakeNext();
  };
}
