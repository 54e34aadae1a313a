/** Erases what the deployment keeps of calls only for so long. */

import type { Logger } from "pino";
import {
  CALLS_PER_PORTION,
  eraseOldTranscripts,
  listOldCalls,
  noteOldRecordings,
  type AgeLimits,
} from "./store/age-limits.ts";
import type { Db } from "./store/db.ts";

/** Of 100 calls each. What is left waits for the next sweep. */
const PORTIONS_AT_ONCE = 50;

export interface AgeSweepDeps {
  readonly db: Db;
  readonly logger: Pick<Logger, "info">;
  readonly ageLimits: AgeLimits;
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
  /** One call with all that belongs to it; what fails is told there. False: it is still there. */
  readonly deleteCall: (call: { readonly accountId: string; readonly callId: string }) => Promise<boolean>;
  readonly stopped: () => boolean;
}

export async function sweepByAge(deps: AgeSweepDeps): Promise<void> {
  const { db, nowMs, logger, ageLimits } = deps;
  const { recordingsKeptDays, transcriptsKeptDays, callsKeptDays } = ageLimits;
  // Whole calls first: the rest goes with them.
  if (callsKeptDays !== null) {
    await repeatedly(deps, async () => {
      const calls = await listOldCalls(db, nowMs(), callsKeptDays);
      let deleted = 0;
      for (const call of calls) if (await deps.deleteCall(call)) deleted += 1;
      // Where none can be deleted, the next portion would be the same.
      return deleted === 0 ? 0 : calls.length;
    });
  }
  if (recordingsKeptDays !== null) {
    const noted = await repeatedly(deps, () => noteOldRecordings(db, nowMs(), recordingsKeptDays));
    if (noted > 0) logger.info({ recordings: noted }, "recordings are removed because of their age");
  }
  if (transcriptsKeptDays !== null) {
    const erased = await repeatedly(deps, () => eraseOldTranscripts(db, nowMs(), transcriptsKeptDays));
    if (erased > 0) logger.info({ transcripts: erased }, "transcripts were erased because of their age");
  }
}

/** `work` gives the size of its portion; a small one is the last. */
async function repeatedly({ stopped }: AgeSweepDeps, work: () => Promise<number>): Promise<number> {
  let all = 0;
  for (let portions = 0; portions < PORTIONS_AT_ONCE && !stopped(); portions += 1) {
    const done = await work();
    all += done;
    if (done < CALLS_PER_PORTION) break;
  }
  return all;
}
