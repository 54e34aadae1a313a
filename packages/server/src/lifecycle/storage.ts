/** Adapter of live calls to the store. */

import type { EndReason, TurnLatency } from "@parley/schema";
import type { EndCall, FinishLate } from "./end/ending.ts";
import { isEngineFailure } from "../call/call-events.ts";
import { formatEvents, formatNote } from "../call/event-lines.ts";
import type { CallPlan } from "../plan/plan.ts";
import type { CallRecords, SnapshotRecord } from "../runner/records/call-records.ts";
import type { EventChunk } from "../runner/records/event-chunks.ts";
import { isTaken, saveSnapshot, type SnapshotOutcome } from "../store/snapshots/call-snapshots.ts";
import { giveUpCall } from "../store/snapshots/orphans.ts";
import type { NodeBoot } from "../store/nodes/node-claims.ts";
import { appendCallEvent } from "../store/calls/call-events.ts";
import { saveEventLog, saveEventLogChunk, saveEventLogEnd } from "../store/calls/call-event-logs.ts";
import { markJoined } from "../store/calls/calls.ts";
import { saveSideTokens } from "../store/calls/side-tokens.ts";
import type { Db } from "../store/database/db.ts";
import { appendMessage } from "../store/calls/messages.ts";
import { insertStage, saveTokenCounts, saveToolErrors } from "../store/calls/stages.ts";

/** The metrics of calls. */
export interface CallMetrics {
  callEnded(reason: EndReason): void;
  /** `cause`: what interrupted the agent. */
  turnInterrupted(cause: string): void;
  /** `type`: of the call event, such as `stt.failed`. */
  engineFailed(type: string): void;
  turnCompleted(latency: TurnLatency): void;
}

export interface CallStorage {
  readonly records: CallRecords;
  /** @throws when the call does not belong to this process */
  accountOf(callId: string): string;
  /** Sets the account of a call; removed when the end of the call is stored. */
  remember(plan: Pick<CallPlan, "callId" | "accountId">): void;
  /** Removes a call that did not start after all. */
  forget(callId: string): void;
}

export interface CallOutcomes {
  readonly endCall: EndCall;
  readonly finishLate: FinishLate;
  /** Call it after a transaction that may have written webhook deliveries. */
  readonly deliver: () => void;
  /** This process. Joins and ends of calls that another one owns are not stored. */
  readonly boot: NodeBoot;
  /** Another process continues the call. */
  readonly taken: (callId: string) => void;
}

export function createCallStorage(
  db: Db,
  metrics: CallMetrics,
  { endCall, finishLate, deliver, boot, taken }: CallOutcomes,
): CallStorage {
  const accounts = new Map<string, string>();
  const accountOf = (callId: string): string => {
    const accountId = accounts.get(callId);
    if (accountId === undefined) throw new Error(`The call ${callId} does not belong to this process.`);
    return accountId;
  };
  const once = joinTries();
  const records: CallRecords = {
    async joined(callId, { joinedAt, clientVersion }) {
      const join = { joinedAtMs: joinedAt.getTime(), clientVersion, by: boot };
      await markJoined(db, accountOf(callId), callId, join);
      deliver();
    },
    async message(callId, message, version) {
      const accountId = accountOf(callId);
      const written = await appendMessage(db, accountId, callId, message.stageId, message, version);
      if (written === "late" && message.role === "user") await finishLate(accountId, callId);
    },
    async stage(callId, { stage, inheritsMessages, beganAt }) {
      const row = { ...stage.document, stageId: stage.stageId, plan: stage, inheritsMessages };
      await insertStage(db, accountOf(callId), callId, { ...row, createdAt: beganAt });
    },
    toolFailed: async (callId, { stageId, failures }) =>
      void (await saveToolErrors(db, accountOf(callId), callId, stageId, failures)),
    tokensCounted: async (callId, counted) =>
      void (await saveTokenCounts(db, accountOf(callId), callId, counted)),
    sideTokensCounted: async (callId, counted) =>
      void (await saveSideTokens(db, accountOf(callId), callId, counted)),
    callEvent: (callId, event, key) =>
      once(event, async () => {
        await appendCallEvent(db, accountOf(callId), callId, event, key);
        if (event.type === "turn.interrupted") {
          const named = event.extras?.["cause"];
          metrics.turnInterrupted(typeof named === "string" ? named : "unknown");
        }
        if (isEngineFailure(event.type)) metrics.engineFailed(event.type);
      }),
    eventChunk: (callId, chunk) => saveChunk(db, accountOf(callId), callId, chunk),
    async snapshot(callId, record) {
      const saved = await storeSnapshot(db, boot, accountOf(callId), callId, record);
      if (saved === "taken" && accounts.delete(callId)) taken(callId);
    },
    fault: async (callId, { error, plan, log }) =>
      void (await saveEventLog(db, accountOf(callId), callId, { error, plan, ...log })),
    ended: (callId, record) =>
      once(record, async () => {
        const { reason, endedAt, eventLog, use = null } = record;
        // A process that was stopped for a while must not end what goes on elsewhere.
        const isOwn = !(await isTaken(db, boot, callId));
        // Before the end is stored: a call that has ended without it is one whose process stopped before.
        if (isOwn && eventLog !== null) await saveEventLogEnd(db, accountOf(callId), callId, eventLog);
        const end = { endReason: reason, endedAtMs: endedAt.getTime(), use, by: boot };
        const first = isOwn && (await endCall(accountOf(callId), callId, end));
        if (first) metrics.callEnded(reason);
        accounts.delete(callId);
      }),
    handOver: (callId) => handOver(db, boot, callId).then(() => void accounts.delete(callId)),
    turnLatency: (_callId, latency) => metrics.turnCompleted(latency),
  };
  return {
    records,
    accountOf,
    remember: ({ callId, accountId }) => void accounts.set(callId, accountId),
    forget: (callId) => void accounts.delete(callId),
  };
}

/** @throws when the call has no snapshot that another process could continue from, or belongs to another one already */
async function handOver(db: Db, boot: NodeBoot, callId: string): Promise<void> {
  if (!(await giveUpCall(db, boot, callId)))
    throw new Error("it has no snapshot, or belongs to another process");
}

function storeSnapshot(
  db: Db,
  boot: NodeBoot,
  accountId: string,
  callId: string,
  record: SnapshotRecord,
): Promise<SnapshotOutcome> {
  const { version } = record.snapshot;
  return saveSnapshot(db, boot, { accountId, callId, version, document: JSON.stringify(record) });
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

/** A write that took too long is retried while the first one may still succeed: the second joins it. */
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
