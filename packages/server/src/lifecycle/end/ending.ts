/** Ends stored calls. The work after the end of one is a job, queued in the same transaction. */

import { deleteCallJob, leaveDeletion } from "../../jobs/definitions/delete-call.ts";
import { finishCallJob } from "../../jobs/definitions/finish-call.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import { endCall, type CallEnd } from "../../store/calls/calls.ts";
import { inTransaction, type Db } from "../../store/database/db.ts";
import type { Metering } from "../../store/accounts/metering.ts";

/** False: it had ended before, or does not exist. Uses the transaction of `tx`, where it is one. */
export type EndCall = (accountId: string, callId: string, end: OwnCallEnd, tx?: Db) => Promise<boolean>;

export type OwnCallEnd = Omit<CallEnd, "metering" | "settlesLater">;

export interface CallEndingDeps {
  readonly db: Db;
  readonly jobs: Pick<Jobs, "send" | "wake">;
  readonly metering: Metering;
  /** Call it after a transaction that may have written webhook deliveries. */
  readonly deliver: () => void;
}

export function callEnder({ db, jobs, metering, deliver }: CallEndingDeps): EndCall {
  return async (accountId, callId, end, within = db) => {
    const { ending, next } = await inTransaction(within, async (tx) => {
      const how = await endCall(tx, accountId, callId, { ...end, metering, settlesLater: true });
      const call = { accountId, callId };
      if (how === "pending") {
        await jobs.send(tx, finishCallJob, call);
        return { ending: how, next: finishCallJob };
      }
      const isLeft = how === "final" && (await leaveDeletion(tx, jobs, call));
      return { ending: how, next: isLeft ? deleteCallJob : null };
    });
    if (next !== null) jobs.wake(next);
    if (ending !== "ended_before") deliver();
    return ending !== "ended_before";
  };
}
