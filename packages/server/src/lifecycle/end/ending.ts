/** Ends stored calls. The work after the end of one is a job, queued in the same transaction. */

import { deleteCallJob, leaveDeletion } from "../../jobs/definitions/delete-call.ts";
import { finishCallJob } from "../../jobs/definitions/finish-call.ts";
import { hangUpJob, leaveHangUp } from "../../jobs/definitions/hang-up.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import { endCall, type CallEnd } from "../../store/calls/calls.ts";
import { inTransaction, type Db } from "../../store/database/db.ts";
import type { Metering } from "../../store/accounts/metering.ts";

/**
 * Words that arrive after the end of their call come together, from the journal of a process that was thought lost: the
 * summary waits for the last of them.
 */
const LATE_WORDS_MS = 5_000;
/** Calls that are waited for at a time. More of them have a summary only where another process queues it. */
const MAX_LATE_CALLS = 1_000;

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
    const { ending, next, hangsUp } = await inTransaction(within, async (tx) => {
      const how = await endCall(tx, accountId, callId, { ...end, metering, settlesLater: true });
      const call = { accountId, callId };
      if (how === "pending") {
        await jobs.send(tx, finishCallJob, call);
        return { ending: how, next: finishCallJob, hangsUp: false };
      }
      const hangsUp = how === "final" && end.endReason === "unjoined" && (await leaveHangUp(tx, jobs, call));
      const isLeft = how === "final" && (await leaveDeletion(tx, jobs, call));
      return { ending: how, next: isLeft ? deleteCallJob : null, hangsUp };
    });
    if (next !== null) jobs.wake(next);
    if (hangsUp) jobs.wake(hangUpJob);
    if (ending !== "ended_before") deliver();
    return ending !== "ended_before";
  };
}

/** To be called when a caller's words are stored after the end of the call: it gets the summary that it may lack. */
export type FinishLate = (accountId: string, callId: string) => Promise<void>;

/** One job for all words of a call that arrive within five seconds of the first. */
export function lateFinisher({
  db,
  jobs,
  now = Date.now,
}: {
  readonly db: Db;
  readonly jobs: Pick<Jobs, "send">;
  /** For tests. */
  readonly now?: () => number;
}): FinishLate {
  const queuedUntilMs = new Map<string, number>();
  return async (accountId, callId) => {
    const nowMs = now();
    for (const [id, untilMs] of queuedUntilMs) if (untilMs <= nowMs) queuedUntilMs.delete(id);
    if (queuedUntilMs.has(callId) || queuedUntilMs.size >= MAX_LATE_CALLS) return;
    const startAfterMs = nowMs + LATE_WORDS_MS;
    await inTransaction(db, (tx) => jobs.send(tx, finishCallJob, { accountId, callId }, { startAfterMs }));
    // A word that comes when the job has begun needs another one.
    queuedUntilMs.set(callId, startAfterMs);
  };
}
