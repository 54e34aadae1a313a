/** Restores a lost connection: first an ICE restart, then new connections, until the call ends. */

import { CallError } from "./call-error.ts";
import type { Joined } from "./connect.ts";
import type { Link } from "./link.ts";

/**
 * The service waits ten seconds for a client that has lost its network, and half a minute for those of a process that is
 * gone. A client cannot tell the two apart, so it tries for a little longer than the longer wait.
 */
const RECOVERY_LIMIT_MS = 40_000;
/** Timeout of one restart. */
const RESTART_LIMIT_MS = 3_000;
/** Wait between two attempts if the first was refused immediately and the service named no time. */
const PAUSE_MS = 500;
/** Added at random, so that clients that were refused together do not come back together. */
const JITTER_MS = 250;

/** Errors of a new connection while the call still exists. */
const PASSING: ReadonlySet<string> = new Set(["network", "already_joined", "refused"]);

export interface Recovery {
  readonly link: Link;
  /** Joins the call again. */
  readonly rejoin: (signal: AbortSignal) => Promise<Joined>;
  /** Aborted when the link has recovered by itself, or the call has ended. */
  readonly signal: AbortSignal;
}

/**
 * Null: the link has recovered. Otherwise the new link.
 * @throws CallError: `gone` or similar if the call has ended; `network` if it was not reached in time
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
      const waitMs = Math.max(PAUSE_MS, 1_000 * (error.retryAfterSeconds ?? 0));
      await pause(waitMs + Math.random() * JITTER_MS, either);
    }
  }
  if (signal.aborted) return null;
  throw new CallError("network", "The connection was lost and could not be restored in time.", {
    cause: last,
  });
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
