/** Deletes kept answers that are too old to be given again, and what no limit on new calls counts any more. */

import type { Logger } from "pino";
import { sweepAdmissions } from "./store/admission.ts";
import type { Db } from "./store/db.ts";
import { sweepDialAttempts } from "./store/dial-attempts.ts";
import { sweepAnswers } from "./store/kept-answers.ts";

/** Both so stay at most this long beyond their 24 hours. */
const SWEEP_INTERVAL_MS = 600_000;

/** Portions that one sweep deletes of each; what is left waits for the next. */
const MAX_PORTIONS = 1_000;

export interface AdmissionSweep {
  /** No sweep begins any more; one that runs ends after its present portion. */
  stop(): void;
}

export function sweepRegularly(
  db: Db,
  logger: Pick<Logger, "warn">,
  intervalMs = SWEEP_INTERVAL_MS,
): AdmissionSweep {
  const stopping = new AbortController();
  let sweeping = false;
  const all = async (portionOf: (db: Db) => Promise<boolean>): Promise<void> => {
    for (let portion = 0; portion < MAX_PORTIONS && !stopping.signal.aborted; portion += 1) {
      if (!(await portionOf(db))) break;
    }
  };
  const sweep = async (): Promise<void> => {
    if (sweeping) return;
    sweeping = true;
    try {
      await all(sweepAnswers);
      await all(sweepAdmissions);
      await all(sweepDialAttempts);
    } catch (error) {
      logger.warn({ error: String(error) }, "old answers and counts were not swept; tried again later");
    } finally {
      sweeping = false;
    }
  };
  const timer = setInterval(() => void sweep(), intervalMs).unref();
  return {
    stop() {
      stopping.abort();
      clearInterval(timer);
    },
  };
}
