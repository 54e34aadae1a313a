/** Sweep that erases the stored data of calls after the deployment's age limits. */

import type { Logger } from "pino";
import {
  CALLS_PER_PORTION,
  eraseOldTranscripts,
  listOldCalls,
  noteOldRecordings,
  type AgeLimits,
} from "../store/calls/age-limits.ts";
import { databaseTime, type SqlTime } from "../store/database/database-time.ts";
import type { Db } from "../store/database/db.ts";
import { inPortions } from "../pacing/portions.ts";

/** Portions of 100 calls each. The rest waits for the next sweep. */
const PORTIONS_AT_ONCE = 50;

export interface AgeSweepDeps {
  readonly db: Db;
  readonly logger: Pick<Logger, "info">;
  readonly ageLimits: AgeLimits;
  /** For tests. Absent: the clock of the database. */
  readonly time?: () => SqlTime;
  /** Deletes one call with all that belongs to it, and reports failures. False: it still exists. */
  readonly deleteCall: (call: { readonly accountId: string; readonly callId: string }) => Promise<boolean>;
  readonly signal: AbortSignal;
}

export async function sweepByAge(deps: AgeSweepDeps): Promise<void> {
  const { db, time = () => databaseTime, logger, ageLimits } = deps;
  const { recordingsRetentionDays, transcriptsRetentionDays, callsRetentionDays } = ageLimits;
  // Whole calls first: their transcripts and recordings are deleted with them.
  if (callsRetentionDays !== null) {
    await repeatedly(deps, async () => {
      const calls = await listOldCalls(db, callsRetentionDays, time());
      let deleted = 0;
      for (const call of calls) if (await deps.deleteCall(call)) deleted += 1;
      // If none can be deleted, the next portion would be the same.
      return deleted === 0 ? 0 : calls.length;
    });
  }
  if (recordingsRetentionDays !== null) {
    const noted = await repeatedly(deps, () => noteOldRecordings(db, recordingsRetentionDays, time()));
    if (noted > 0) logger.info({ recordings: noted }, "recordings are removed because of their age");
  }
  if (transcriptsRetentionDays !== null) {
    const erased = await repeatedly(deps, () => eraseOldTranscripts(db, transcriptsRetentionDays, time()));
    if (erased > 0) logger.info({ transcripts: erased }, "transcripts were erased because of their age");
  }
}

/** `work` returns the size of its portion; a small one is the last. */
async function repeatedly({ signal }: AgeSweepDeps, work: () => Promise<number>): Promise<number> {
  let all = 0;
  await inPortions({ most: PORTIONS_AT_ONCE, signal }, async () => {
    const done = await work();
    all += done;
    return done >= CALLS_PER_PORTION;
  });
  return all;
}
