/** How a lost connection is sought: its network anew, then another connection, for as long as the call waits. */

import { CallError } from "./call-error.ts";
import type { Joined } from "./connect.ts";
import type { Link } from "./link.ts";

/** The service waits ten seconds for a sign and a little more; who is not back by then has lost the call. */
const RECOVERY_LIMIT_MS = 15_000;
/** For one restart to bring media back. */
const RESTART_LIMIT_MS = 3_000;
/** Between two tries where the first was refused at once. */
const PAUSE_MS = 500;

/** What a new connection can be refused with while the call is still there. */
const PASSING: ReadonlySet<string> = new Set(["network", "already_joined", "refused"]);

export interface Recovery {
  readonly link: Link;
  /** Joins the call once more. */
  readonly rejoin: (signal: AbortSignal) => Promise<Joined>;
  /** Aborted when the link has come back by itself, or the call is over. */
  readonly signal: AbortSignal;
}

/**
 * Null: the link has come back. Otherwise the one that takes its place.
 * @throws CallError: `gone` and the like when the call is over; `network` when it was not reached in time
 */
export async function recover({ link, rejoin, signal }: Recovery): Promise<Joined | null> {
  const limit = AbortSignal.timeout(RECOVERY_LIMIT_MS);
  const either = AbortSignal.any([signal, limit]);
  let last: unknown = null;
  while (!either.aborted) {
    try {
      if (await link.restart()) await pause(RESTART_LIMIT_MS, either);
      if (either.aborted) break;
      return await rejoin(either);
    } catch (error) {
      if (either.aborted) break;
      if (!(error instanceof CallError) || !PASSING.has(error.code)) throw error;
      last = error;
      await pause(PAUSE_MS, either);
    }
  }
  if (signal.aborted) return null;
  throw new CallError("network", "The connection was lost and did not come back in time.", { cause: last });
}

/** Ends early when it is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
