/** Starts a stored call that nobody has joined, in this process: it waits for its join. */

import type { CallStorage } from "./storage.ts";
import { parsePlan } from "../plan/stored-plan.ts";
import type { LiveCalls, StartOutcome } from "../runner/live-calls.ts";
import { getCallForJoin, type CallForJoin } from "../store/calls/calls.ts";
import type { Db } from "../store/database/db.ts";

export interface StartWaitingDeps {
  readonly liveCalls: Pick<LiveCalls, "accountOf" | "startCall">;
  readonly storage: Pick<CallStorage, "remember" | "forget">;
}

/** `over`: it was joined, or can no longer be joined, or its end here is being stored. Rejects for a damaged record. */
export async function startWaiting(
  { db, ...deps }: StartWaitingDeps & { readonly db: Db },
  callId: string,
): Promise<StartOutcome | "over"> {
  const stored = await getCallForJoin(db, callId);
  return stored === null ? "over" : startStored(deps, stored);
}

export function startStored(
  { liveCalls, storage }: StartWaitingDeps,
  stored: CallForJoin,
): StartOutcome | "over" {
  const leftMs = stored.joinDeadlineMs - stored.readAtMs;
  if (stored.joinedAtMs !== null || stored.endedAtMs !== null || leftMs <= 0) return "over";
  const { callId } = stored;
  const plan = parsePlan(stored.plan);
  // It has not left this process yet.
  if (liveCalls.accountOf(callId) !== null) return "over";
  storage.remember(plan);
  let outcome: StartOutcome | null = null;
  try {
    outcome = liveCalls.startCall(
      { ...plan, joinTimeoutMs: leftMs },
      { createdAt: new Date(stored.createdAtMs) },
    );
    return outcome;
  } finally {
    if (outcome !== "started") storage.forget(callId);
  }
}
