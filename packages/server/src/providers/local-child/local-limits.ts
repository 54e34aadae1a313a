/** Limits of the processes of models, and the failure that they end in. */

import { EngineFailure } from "../../ports/engine-failure.ts";
import { messageOf } from "../../pacing/error-text.ts";

/** From start to a loaded model. The largest of the catalogue has 640 MB, which a slow disk reads in half a minute. */
export const LOAD_TIMEOUT_MS = 120_000;

/** A request. A minute of speech takes a slow machine half of that; a process that needs longer hangs. */
export const ANSWER_TIMEOUT_MS = 60_000;

/** Failures of this machine are not permanent: its process is started again. */
export function localFailure(error: unknown, type: string): EngineFailure {
  return new EngineFailure(messageOf(error), { type, cause: error });
}
