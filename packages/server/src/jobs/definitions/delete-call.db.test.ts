import { NO_EMBEDDING } from "../testing/no-embedding.ts";
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { callEnder } from "../../lifecycle/end/ending.ts";
import { JOB_DEFINITIONS, jobsToRun } from "../../app/job-kinds.ts";
import { getCall, insertCall, markJoined, type CallEnd } from "../../store/calls/calls.ts";
import { fixedTime } from "../../store/database/database-time.ts";
import type { Db } from "../../store/database/db.ts";
import { deleteCall, DELETION_WAIT_LIMIT_MS, getDeletedCall } from "../../store/calls/deleted-calls.ts";
import { DEFAULT_METERING } from "../../store/accounts/metering.ts";
import { markEnded, newCall } from "../../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount, type TestStore } from "../../store/testing/databases.ts";
import { createWebhook } from "../../store/webhooks/webhooks.ts";
import { deleteCallHandler } from "./delete-call.ts";
import { openJobs, type Jobs } from "../jobs.ts";
import { noCarriers } from "../testing/no-carriers.ts";

const LIMIT = { timeout: 60_000, interval: 20 };
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const hangup = { endReason: "hangup" } as const;
const nothing = (): void => undefined;

interface Sent {
  readonly startAfterMs: number;
}

describeOnBothDatabases("calls that delete themselves", (current) => {
  async function call(db: Db, changes: { readonly policy?: string; readonly joined?: boolean } = {}) {
    const accountId = await newAccount(db);
    const settings = { retentionPolicy: changes.policy ?? "auto_delete", recordingEnabled: true };
    const made = newCall({ settings, createdAtMs: Date.now() - 60_000 });
    await insertCall(db, accountId, made);
    if (changes.joined !== false) {
      const joinedAtMs = made.createdAtMs + 1_000;
      await markJoined(db, accountId, made.callId, { joinedAtMs, clientVersion: null });
    }
    return { accountId, callId: made.callId };
  }

  /** Nothing is delivered here: notifications stay pending until `told`. */
  async function subscribe(db: Db, { accountId }: { accountId: string }): Promise<void> {
    const url = "https://receiver.example/";
    await createWebhook(db, accountId, {
      url,
      events: ["call.ended", "call.billed"],
      agentId: null,
      secrets: [],
    });
  }

  async function markDelivered(db: Db, callId: string): Promise<void> {
    await sql`update webhook_deliveries set status = 'delivered', finished_at = now()
      where call_id = ${callId}`.execute(db.query);
  }

  async function ended(db: Db, made: { accountId: string; callId: string }, end: Partial<CallEnd> = {}) {
    const whole = { ...hangup, endedAtMs: Date.now() - 30_000, ...end };
    expect(await markEnded(db, made.accountId, made.callId, whole)).toBe(true);
  }

  function handler(db: Db, nowMs: () => number = Date.now) {
    const removed: string[] = [];
    const sent: Sent[] = [];
    const jobs: Pick<Jobs, "send"> = {
      send: (_tx, _definition, _data, options) => {
        sent.push({ startAfterMs: options?.startAfterMs ?? 0 });
        return Promise.resolve();
      },
    };
    const removeFiles = (callId: string): Promise<void> => {
      removed.push(callId);
      return Promise.resolve();
    };
    const run = deleteCallHandler({
      db,
      jobs,
      removeFiles,
      log: quiet,
      nowMs,
      time: () => fixedTime(nowMs()),
    });
    const signal = new AbortController().signal;
    const work = (data: { accountId: string; callId: string }) => run({ jobId: randomUUID(), data, signal });
    return { removed, sent, work };
  }

  it("go once they are over and billed, and then their files", async () => {
    const { db } = current();
    const due = await call(db);
    const { removed, sent, work } = handler(db);
    await work(due);
    expect(await getCall(db, due.accountId, due.callId)).not.toBeNull();
    await ended(db, due, { settlesLater: true });
    await work(due);
    expect(await getCall(db, due.accountId, due.callId)).not.toBeNull();
    await sql`update calls set billing_status = 'BILLED' where id = ${due.callId}`.execute(db.query);
    await work(due);
    expect(await getDeletedCall(db, due.accountId, due.callId)).toMatchObject({ recordingEnabled: true });
    // After a crash it may run again.
    await work(due);
    expect([removed, sent]).toEqual([[due.callId], []]);
  });

  it("stay where the call is to be kept, or belongs to another account", async () => {
    const { db } = current();
    const kept = await call(db, { policy: "retain" });
    const due = await call(db);
    await ended(db, kept);
    await ended(db, due);
    const { removed, sent, work } = handler(db);
    await work(kept);
    await work({ accountId: kept.accountId, callId: due.callId });
    expect(await getCall(db, kept.accountId, kept.callId)).not.toBeNull();
    expect(await getCall(db, due.accountId, due.callId)).not.toBeNull();
    expect([removed, sent]).toEqual([[], []]);
  });

  it("wait for their webhooks, longer and longer, and for a day at most", async () => {
    const { db } = current();
    const due = await call(db);
    await subscribe(db, due);
    const endedAtMs = Date.now();
    await ended(db, due, { endedAtMs });
    const clock = { nowMs: endedAtMs + 1_000 };
    const { removed, sent, work } = handler(db, () => clock.nowMs);
    const hour = 3_600_000;
    for (const [ageMs, waitMs] of [
      [1_000, 5_000],
      [60_000, 15_000],
      [10 * 60_000, 150_000],
      [8 * hour, 15 * 60_000],
      [24 * hour - 7_000, 7_000],
    ] as const) {
      clock.nowMs = endedAtMs + ageMs;
      await work(due);
      expect(sent.pop()?.startAfterMs).toBe(clock.nowMs + waitMs);
    }
    expect(removed).toEqual([]);
    clock.nowMs = endedAtMs + DELETION_WAIT_LIMIT_MS;
    await work(due);
    expect(removed).toEqual([due.callId]);
  });

  it("are deleted when the last webhook was notified or given up", async () => {
    const { db } = current();
    const due = await call(db);
    await subscribe(db, due);
    await ended(db, due);
    const { removed, sent, work } = handler(db);
    await work(due);
    expect([removed, sent.length]).toEqual([[], 1]);
    await markDelivered(db, due.callId);
    await work(due);
    expect([removed, sent.length]).toEqual([[due.callId], 1]);
  });

  it("are deleted by whoever comes first, once", async () => {
    const { db } = current();
    const due = await call(db);
    await ended(db, due);
    const both = [handler(db), handler(db)];
    const byHand = deleteCall(db, due.accountId, due.callId);
    await Promise.all([...both.map(({ work }) => work(due)), byHand]);
    const deletions = both.flatMap(({ removed }) => removed).length + ((await byHand) === "deleted" ? 1 : 0);
    expect(deletions).toBe(1);
  });

  async function withJobs(
    { store, db }: TestStore,
    work: (endCall: ReturnType<typeof callEnder>, removed: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const jobs = await openJobs({ store, definitions: JOB_DEFINITIONS, log: quiet });
    const removed: string[] = [];
    const removeFiles = (callId: string): Promise<void> => {
      removed.push(callId);
      return Promise.resolve();
    };
    const basis = { db, jobs, metering: DEFAULT_METERING, deliver: nothing, removeFiles, log: quiet };
    const parts = { ...basis, carriers: noCarriers, embedding: NO_EMBEDDING };
    try {
      await jobs.start(jobsToRun({ ...parts, corpora: null, summaries: null, nowMs: Date.now }));
      await work(callEnder({ db, jobs, metering: DEFAULT_METERING, deliver: nothing }), removed);
    } finally {
      await jobs.close();
    }
  }

  it("go by themselves after their end, joined or not", async () => {
    const { db } = current();
    const [joined, unjoined] = [await call(db), await call(db, { joined: false })];
    const kept = await call(db, { policy: "retain" });
    await withJobs(current(), async (endCall, removed) => {
      for (const { accountId, callId } of [kept, joined, unjoined]) {
        await endCall(accountId, callId, { ...hangup, endedAtMs: Date.now() });
      }
      await expect.poll(() => removed.toSorted(), LIMIT).toEqual([joined.callId, unjoined.callId].toSorted());
    });
    expect(await getDeletedCall(db, joined.accountId, joined.callId)).not.toBeNull();
    expect(await getCall(db, kept.accountId, kept.callId)).not.toBeNull();
  });

  it("go by another process where theirs stopped before", async () => {
    const { store, db } = current();
    const due = await call(db);
    const stopped = await openJobs({ store, definitions: JOB_DEFINITIONS, log: quiet });
    const endCall = callEnder({ db, jobs: stopped, metering: DEFAULT_METERING, deliver: nothing });
    await endCall(due.accountId, due.callId, { ...hangup, endedAtMs: Date.now() });
    await stopped.close();
    expect(await getCall(db, due.accountId, due.callId)).toMatchObject({ billingStatus: "PENDING" });
    await withJobs(current(), async (_endCall, removed) => {
      await expect.poll(() => removed, LIMIT).toEqual([due.callId]);
    });
  });
});
