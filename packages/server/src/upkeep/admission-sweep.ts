/** Sweep that deletes stored answers that are too old to be repeated, and admissions that no limit counts any more. */

import type { Logger } from "pino";
import { inPortions } from "../pacing/portions.ts";
import { repeat, type Loop } from "../pacing/repeat.ts";
import { sweepAdmissions } from "../store/accounts/admission.ts";
import { sweepAnswers } from "../store/accounts/idempotent-answers.ts";
import { sweepDialAttempts } from "../store/batches/dial-attempts.ts";
import type { Db } from "../store/database/db.ts";
import { sweepTransfers } from "../store/telephony/call-transfers.ts";
import { sweepDials } from "../store/telephony/carrier-dials.ts";

/** Rows stay at most this long beyond their 24 hours. */
const SWEEP_INTERVAL_MS = 600_000;

/** Portions of each kind that one sweep deletes. The rest waits for the next sweep. */
const MAX_PORTIONS = 1_000;

/** `stop` waits for the present portion of a running sweep. */
export function sweepRegularly(db: Db, logger: Pick<Logger, "warn">, intervalMs = SWEEP_INTERVAL_MS): Loop {
  const stopping = new AbortController();
  const limits = { most: MAX_PORTIONS, signal: stopping.signal };
  const sweep = async (): Promise<void> => {
    for (const portionOf of [sweepAnswers, sweepAdmissions, sweepDialAttempts, sweepDials, sweepTransfers]) {
      await inPortions(limits, () => portionOf(db));
    }
  };
  const loop = repeat(
    sweep,
    () => intervalMs,
    intervalMs,
    (error) =>
      logger.warn({ error: String(error) }, "old answers and counts could not be erased; retrying later"),
  );
  return {
    async stop() {
      stopping.abort();
      await loop.stop();
    },
  };
}
