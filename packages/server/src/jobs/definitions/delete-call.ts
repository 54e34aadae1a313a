/** Deletes a call by its retention policy, once it is billed and its webhooks were delivered (D177). */

import { databaseTime, type SqlTime } from "../../store/database/database-time.ts";
import type { Db } from "../../store/database/db.ts";
import { ageOfCallToDelete, deleteDueCall, DELETION_WAIT_LIMIT_MS } from "../../store/calls/deleted-calls.ts";
import { readEndedCall, type EndedCall } from "./finish-call.ts";
import type { JobDefinition, JobHandler } from "./job.ts";
import type { Jobs } from "../jobs.ts";

export const deleteCallJob: JobDefinition<EndedCall> = {
  name: "delete-call",
  read: readEndedCall,
  atOnce: 2,
  limitSeconds: 30,
  // After the last retry, upkeep deletes it, which sweeps every minute.
  retries: { limit: 5, delaySeconds: 5, maxDelaySeconds: 60 },
};

/** Webhooks answer within seconds or are retried for hours: it then waits a quarter of the time that they have had. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 15 * 60_000;
const SHARE_OF_AGE = 0.25;

/**
 * Queues the job, within the transaction that makes the call final, where the call deletes itself. True: a job was
 * queued, so wake the queue.
 */
export async function leaveDeletion(tx: Db, jobs: Pick<Jobs, "send">, call: EndedCall): Promise<boolean> {
  const { accountId, callId } = call;
  if ((await ageOfCallToDelete(tx, accountId, callId)) === null) return false;
  await jobs.send(tx, deleteCallJob, { accountId, callId });
  return true;
}

export interface DeleteCallDeps {
  readonly db: Db;
  readonly jobs: Pick<Jobs, "send">;
  /** Files of a deleted call. Never rejects. */
  readonly removeFiles: (callId: string) => Promise<void>;
  readonly log: { readonly info: (fields: object, message: string) => void };
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
  /** For tests. Absent: the clock of the database. */
  readonly time?: () => SqlTime;
}

export function deleteCallHandler(deps: DeleteCallDeps): JobHandler<EndedCall> {
  const { db, jobs, removeFiles, log, nowMs, time = () => databaseTime } = deps;
  return async ({ data: { accountId, callId } }) => {
    const deletion = await deleteDueCall(db, accountId, callId, time());
    if (deletion === "deleted") {
      log.info({ callId }, "a call was deleted by its retention policy");
      await removeFiles(callId);
    }
    if (deletion !== "too_early") return;
    const ageMs = await ageOfCallToDelete(db, accountId, callId, time());
    // Changed meanwhile: the call is gone, or is not to be deleted any more.
    if (ageMs === null) return;
    await jobs.send(db, deleteCallJob, { accountId, callId }, { startAfterMs: nowMs() + waitAtAge(ageMs) });
  };
}

function waitAtAge(ageMs: number): number {
  const waitMs = Math.min(Math.max(ageMs * SHARE_OF_AGE, FIRST_WAIT_MS), LONGEST_WAIT_MS);
  // After that nothing is waited for.
  return Math.max(0, Math.min(waitMs, DELETION_WAIT_LIMIT_MS - ageMs));
}
