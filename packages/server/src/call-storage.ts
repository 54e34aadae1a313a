/** Binds what live calls leave behind to the store. */

import type { Logger } from "pino";
import type { EndCall } from "./call-ending.ts";
import { formatEvents, formatNote } from "./call/event-lines.ts";
import type { CallPlan } from "./call/plan.ts";
import type { Metrics } from "./metrics.ts";
import type { TurnTraces } from "./providers/traces/otlp-traces.ts";
import type { CallRecords } from "./runner/call-records.ts";
import type { EventChunk } from "./runner/kept-events.ts";
import { appendCallEvent } from "./store/call-events.ts";
import { saveEventLog, saveEventLogChunk, saveEventLogEnd } from "./store/call-event-logs.ts";
import { markJoined } from "./store/calls.ts";
import type { Db } from "./store/db.ts";
import { appendMessage } from "./store/messages.ts";
import { countToolError, insertStage } from "./store/stages.ts";

export interface CallStorage {
  readonly records: CallRecords;
  /** Tells whose call it is; forgotten when its end is on record. */
  remember(plan: Pick<CallPlan, "callId" | "accountId">): void;
  /** For a call that did not start after all. */
  forget(callId: string): void;
}

export interface CallOutcomes {
  readonly endCall: EndCall;
  /** Webhooks may have something to be told. */
  readonly deliver: () => void;
}

export function createCallStorage(
  db: Db,
  metrics: Metrics,
  traces: TurnTraces | null,
  logger: Logger,
  { endCall, deliver }: CallOutcomes,
): CallStorage {
  const accounts = new Map<string, string>();
  const accountOf = (callId: string): string => {
    const accountId = accounts.get(callId);
    if (accountId === undefined) throw new Error(`The call ${callId} is not of this process.`);
    return accountId;
  };
  const once = joinTries();
  const records: CallRecords = {
    async joined(callId, { joinedAt, clientVersion }) {
      await markJoined(db, accountOf(callId), callId, { joinedAtMs: joinedAt.getTime(), clientVersion });
      deliver();
    },
    async message(callId, message) {
      await appendMessage(db, accountOf(callId), callId, message.stageId, message);
    },
    async stage(callId, { stage, inheritsMessages, beganAt }) {
      const row = { ...stage.document, stageId: stage.stageId, plan: stage, inheritsMessages };
      await insertStage(db, accountOf(callId), callId, { ...row, createdAt: beganAt });
    },
    toolFailed: (callId, record) =>
      once(record, async () => {
        await countToolError(db, accountOf(callId), callId, record.stageId);
      }),
    callEvent: (callId, event) =>
      once(event, async () => {
        await appendCallEvent(db, accountOf(callId), callId, event);
        if (event.type === "turn.interrupted") {
          const named = event.extras?.["cause"];
          const cause = typeof named === "string" ? named : "unknown";
          metrics.turnInterrupted(cause);
          traces?.turnInterrupted(callId, cause, Date.now());
        }
        if (/^(?:stt|llm|tts)\.failed$/.test(event.type)) metrics.engineFailed(event.type);
      }),
    eventChunk: (callId, chunk) => saveChunk(db, accountOf(callId), callId, chunk),
    async fault(callId, { error, plan, log }) {
      await saveEventLog(db, accountOf(callId), callId, { error, plan, ...log });
    },
    ended: (callId, record) =>
      once(record, async () => {
        const { reason, endedAt, detail, latestInputTokens, eventLog } = record;
        // Before the end: a call that has ended without it is one whose process did not come so far.
        if (eventLog !== null) await saveEventLogEnd(db, accountOf(callId), callId, eventLog);
        const end = { endReason: reason, endedAtMs: endedAt.getTime(), latestInputTokens };
        const first = await endCall(accountOf(callId), callId, end);
        if (first) metrics.callEnded(reason);
        if (detail !== null) logger.info({ callId, reason, detail }, "call ended");
        accounts.delete(callId);
      }),
    turnLatency(callId, latency) {
      metrics.turnCompleted(latency);
      traces?.turnCompleted(callId, latency, Date.now());
    },
  };
  return {
    records,
    remember: ({ callId, accountId }) => void accounts.set(callId, accountId),
    forget: (callId) => void accounts.delete(callId),
  };
}

async function saveChunk(
  db: Db,
  accountId: string,
  callId: string,
  { index, events, note }: EventChunk,
): Promise<void> {
  const text = `${formatEvents(events)}${note === null ? "" : formatNote(note)}`;
  await saveEventLogChunk(db, accountId, callId, { index, eventCount: events.length, text });
}

/** A write that took too long is tried again while the first one may still succeed: the second try joins it. */
function joinTries(): (record: object, write: () => Promise<void>) => Promise<void> {
  const underWay = new WeakMap<object, Promise<void>>();
  return (record, write) => {
    const known = underWay.get(record);
    if (known !== undefined) return known;
    const writing = write();
    underWay.set(record, writing);
    writing.catch(() => underWay.delete(record));
    return writing;
  };
}
