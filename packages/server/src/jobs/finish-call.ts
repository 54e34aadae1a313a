/** What is left to do for a joined call that is over: what is made of its words, then its billing (D174). */

import { inTransaction, type Db } from "../store/db.ts";
import { settleCall, type Metering } from "../store/metering.ts";
import type { JobDefinition, JobHandler } from "./job.ts";

export interface EndedCall {
  readonly accountId: string;
  readonly callId: string;
}

/** Of a call whose last attempt was cut off or failed: it is noted what it lacks, and billed where upkeep has not done it. */
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
  // Half a minute for what is made of the call's words, and as long for the database.
  limitSeconds: 60,
  // A call is final within a minute of its end; what fails longer, or waits for others, is settled by upkeep.
  retries: { limit: 5, delaySeconds: 2, maxDelaySeconds: 10 },
  givenUp: unfinishedCallJob,
};

/** Of any job about one call. @throws when it is none */
export function readEndedCall(data: unknown): EndedCall {
  if (typeof data === "object" && data !== null && "accountId" in data && "callId" in data) {
    const { accountId, callId } = data;
    if (typeof accountId === "string" && typeof callId === "string") return { accountId, callId };
  }
  throw new Error("The job does not say which call it is about.");
}

export interface FinishCallDeps {
  readonly db: Db;
  readonly metering: Metering;
  /** Waited for before the call is billed, so it takes 30 s at most; rejects to be tried again. */
  readonly beforeBilling: (call: EndedCall, signal: AbortSignal) => Promise<void>;
  /** Leaves what follows the billing, in its transaction; what it gives is called when that is over. */
  readonly afterBilling: (tx: Db, call: EndedCall) => Promise<() => void>;
  /** Webhooks may have something to be told. */
  readonly deliver: () => void;
}

export function finishCall(deps: FinishCallDeps): JobHandler<EndedCall> {
  const { db, metering, beforeBilling, afterBilling, deliver } = deps;
  return async ({ data, signal }) => {
    await beforeBilling(data, signal);
    const wakeNext = await inTransaction(db, async (tx) => {
      // Not pending any more: it was settled by an attempt that was cut off afterwards, by upkeep, or deleted.
      if (!(await settleCall(tx, data.accountId, data.callId, metering))) return null;
      return afterBilling(tx, data);
    });
    if (wakeNext === null) return;
    deliver();
    wakeNext();
  };
}
