/** What of Deepgram's refusals the next request gets as well. */

import { EngineFailure } from "../../ports/engine-failure.ts";

/** Statuses of a refused upgrade: wrong settings, and an account without credit. */
const REFUSALS: readonly (string | null)[] = ["400", "402"];

export function asPermanent(error: Error): Error {
  if (!(error instanceof EngineFailure) || !REFUSALS.includes(error.type)) return error;
  return new EngineFailure(error.message, { isPermanent: true, type: error.type });
}
