/** Binds what live calls leave behind to the store, and finds what a process that is gone has left. */

import type { Logger } from "pino";
import type { CallPlan } from "./call/plan.ts";
import { parsePlan } from "./call/stored-plan.ts";
import type { Metrics } from "./metrics.ts";
import type { CallRecords } from "./runner/call-records.ts";
import type { LiveCalls } from "./runner/live-calls.ts";
import { appendCallEvent } from "./store/call-events.ts";
import { saveEventLog } from "./store/call-event-logs.ts";
import {
  getCallForJoin,
  listUnfinishedCalls,
  markEnded,
  markJoined,
  type UnfinishedCall,
} from "./store/calls.ts";
import type { Db } from "./store/db.ts";
import { appendMessage } from "./store/messages.ts";

export interface CallStorage {
  readonly records: CallRecords;
  /** Tells whose call it is; forgotten when its end is on record. */
  remember(plan: Pick<CallPlan, "callId" | "accountId">): void;
}

export function createCallStorage(db: Db, metrics: Metrics, logger: Logger): CallStorage {
  const accounts = new Map<string, string>();
  const accountOf = (callId: string): string => {
    const accountId = accounts.get(callId);
    if (accountId === undefined) throw new Error(`The call ${callId} is not of this process.`);
    return accountId;
  };
  const records: CallRecords = {
    async joined(callId, { joinedAt, clientVersion }) {
      await markJoined(db, accountOf(callId), callId, { joinedAtMs: joinedAt.getTime(), clientVersion });
    },
    async message(callId, message) {
      await appendMessage(db, accountOf(callId), callId, message.stageId, message);
    },
    async callEvent(callId, event) {
      if (event.type === "turn.interrupted") metrics.turnInterrupted();
      if (/^(?:stt|llm|tts)\.failed$/.test(event.type)) metrics.engineFailed(event.type);
      await appendCallEvent(db, accountOf(callId), callId, event);
    },
    async fault(callId, { error, plan, log }) {
      logger.error({ callId, error }, "a call failed; its event log is kept");
      await saveEventLog(db, accountOf(callId), callId, { error, plan, ...log });
    },
    async ended(callId, { reason, endedAt, detail, latestInputTokens }) {
      const end = { endReason: reason, endedAtMs: endedAt.getTime(), latestInputTokens };
      const first = await markEnded(db, accountOf(callId), callId, end);
      if (first) metrics.callEnded(reason);
      if (detail !== null) logger.info({ callId, reason, detail }, "call ended");
      accounts.delete(callId);
    },
    turnLatency: (_callId, latency) => metrics.turnCompleted(latency),
  };
  return { records, remember: ({ callId, accountId }) => void accounts.set(callId, accountId) };
}

export interface RecoveryDeps {
  readonly db: Db;
  readonly nodeId: string;
  readonly liveCalls: LiveCalls;
  readonly storage: CallStorage;
  readonly logger: Logger;
}

/**
 * Calls that this node had when it stopped: those that were joined are ended with `system_error`, those that still may be
 * joined wait for it again, the rest are `unjoined`.
 */
export async function recoverCalls(deps: RecoveryDeps): Promise<void> {
  const waiting = new Set<string>();
  let ended = 0;
  for (;;) {
    const calls = await listUnfinishedCalls(deps.db, deps.nodeId);
    const left = calls.filter((call) => !waiting.has(call.callId));
    if (left.length === 0) break;
    for (const call of left) {
      if (await resumeWaiting(deps, call)) waiting.add(call.callId);
      else ended += 1;
    }
    // What waits again stays unfinished and would fill the next look: those calls were all in this one.
    if (waiting.size > 0 && left.length < calls.length) break;
  }
  if (ended + waiting.size > 0) {
    deps.logger.warn(
      { ended, waiting: waiting.size },
      "calls of before this start: ended, or waiting for their join again",
    );
  }
}

async function resumeWaiting(
  { db, liveCalls, storage, logger }: RecoveryDeps,
  call: UnfinishedCall,
): Promise<boolean> {
  const nowMs = Date.now();
  const stored = call.joinedAtMs === null ? await getCallForJoin(db, call.callId) : null;
  if (stored !== null && stored.joinDeadlineMs > nowMs) {
    try {
      const plan = parsePlan(stored.plan);
      storage.remember(plan);
      liveCalls.startCall(
        { ...plan, joinTimeoutMs: stored.joinDeadlineMs - nowMs },
        { createdAt: new Date(call.createdAtMs) },
      );
      return true;
    } catch (error) {
      logger.warn(
        { callId: call.callId, error: String(error) },
        "a call that waited for its join cannot go on",
      );
    }
  }
  await markEnded(db, call.accountId, call.callId, {
    endReason:
      call.joinedAtMs === null && stored !== null && stored.joinDeadlineMs <= nowMs
        ? "unjoined"
        : "system_error",
    endedAtMs: nowMs,
    latestInputTokens: null,
  });
  return false;
}
