/** Deletes a call whose retention policy says so, once it is billed and its webhooks were told (D177). */

import type { Db } from "../store/db.ts";
import { deleteDueCall, DELETION_WAIT_LIMIT_MS, endOfCallToDelete } from "../store/deleted-calls.ts";
import { readEndedCall, type EndedCall } from "./finish-call.ts";
import type { JobDefinition, JobHandler } from "./job.ts";
import type { Jobs } from "./jobs.ts";

export const deleteCallJob: JobDefinition<EndedCall> = {
  name: "delete-call",
  read: readEndedCall,
  atOnce: 2,
  limitSeconds: 30,
  // What fails longer is deleted by upkeep, which looks every minute.
  retries: { limit: 5, delaySeconds: 5, maxDelaySeconds: 60 },
};

/** Webhooks answer within seconds, or are tried again for hours: then a quarter of the time that they have had is waited. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 15 * 60_000;
const SHARE_OF_AGE = 0.25;

/**
 * Leaves the job, within the transaction that makes the call final, where the call is to be deleted by itself. True: there is
 * one to wake.
 */
export async function leaveDeletion(tx: Db, jobs: Pick<Jobs, "send">, call: EndedCall): Promise<boolean> {
  const { accountId, callId } = call;
  if ((await endOfCallToDelete(tx, accountId, callId)) === null) return false;
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
}

export function deleteCallWhenTold(deps: DeleteCallDeps): JobHandler<EndedCall> {
  const { db, jobs, removeFiles, log, nowMs } = deps;
  return async ({ data: { accountId, callId } }) => {
    const deletion = await deleteDueCall(db, accountId, callId, nowMs());
    if (deletion === "deleted") {
      log.info({ callId }, "a call was deleted by its retention policy");
      await removeFiles(callId);
    }
    if (deletion !== "too_early") return;
    const endedAtMs = await endOfCallToDelete(db, accountId, callId);
    // Changed hands meanwhile: it is gone, or not to be deleted after all.
    if (endedAtMs === null) return;
    await jobs.send(db, deleteCallJob, { accountId, callId }, { startAfterMs: nextTry(endedAtMs, nowMs()) });
  };
}

function nextTry(endedAtMs: number, nowMs: number): number {
  const waitMs = Math.min(Math.max((nowMs - endedAtMs) * SHARE_OF_AGE, FIRST_WAIT_MS), LONGEST_WAIT_MS);
  // Nothing is waited for after that.
  return Math.max(nowMs, Math.min(nowMs + waitMs, endedAtMs + DELETION_WAIT_LIMIT_MS));
}
