import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it, vi } from "vitest";
import { getCall, insertCall, markJoined } from "../store/calls/calls.ts";
import { SAMPLE_INTERVAL_MS, sampleTimeMs } from "../store/accounts/concurrency.ts";
import { deleteCall, getDeletedCall } from "../store/calls/deleted-calls.ts";
import { getFilesToRemove } from "../store/calls/files-to-remove.ts";
import { DEFAULT_METERING } from "../store/accounts/metering.ts";
import { markEnded, newCall, NO_AGE_LIMITS } from "../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";
import { openUpkeep } from "./upkeep.ts";

/** Longer than the first sweep waits. */
const LIMIT = { timeout: 30_000, interval: 50 };

describeOnBothDatabases("upkeep", (current) => {
  it("counts calls, settles and deletes what is due, and removes files that were left over", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const ofAYear = `audit-${accountId}`;
    for (const days of [364, 366]) {
      await sql`insert into audit_entries (id, account_id, created_at, operation, via)
        values (${randomUUID()}, ${accountId}, now() - make_interval(days => ${days}), ${ofAYear}, 'api')`.execute(
        db.query,
      );
    }
    const entries = async (): Promise<number> =>
      (await sql`select 1 from audit_entries where operation = ${ofAYear}`.execute(db.query)).rows.length;
    const nodeId = "this node";
    const old = Date.now() - 3_600_000;
    const ended = async (settings: object, settlesLater = false): Promise<string> => {
      const call = newCall({ nodeId, settings, createdAtMs: old });
      await insertCall(db, accountId, call);
      await markJoined(db, accountId, call.callId, { joinedAtMs: old, clientVersion: null });
      const end = {
        endReason: "hangup",
        endedAtMs: old + 1_000,
        settlesLater,
      } as const;
      await markEnded(db, accountId, call.callId, end);
      return call.callId;
    };
    const running = newCall({ nodeId });
    await insertCall(db, accountId, running);
    // The state after a crash right after the deletion.
    const crashed = await ended({ recordingEnabled: true });
    expect(await deleteCall(db, accountId, crashed)).toBe("deleted");
    const pending = await ended({}, true);
    const deletesItself = await ended({ recordingEnabled: true, retentionPolicy: "auto_delete" }, true);
    const stays = await ended({ retentionPolicy: "retain" });
    await sql`insert into concurrency_samples (account_id, at, node_id, total, joined)
      values (${accountId}, ${new Date(Date.now() - 30 * 86_400_000)}, ${nodeId}, 3, 1)`.execute(db.query);

    const removed: string[] = [];
    // Always 50 ms before the next sampling time.
    const nowMs = sampleTimeMs(Date.now()) + 2 * SAMPLE_INTERVAL_MS - 50;
    const logged: unknown[] = [];
    const warn = (fields: unknown): void => {
      logged.push(fields);
    };
    const upkeep = openUpkeep({
      db,
      nodeId,
      recordings: {
        isShared: false,
        remove: (callId) => {
          removed.push(callId);
          return Promise.resolve();
        },
      },
      metering: DEFAULT_METERING,
      ageLimits: NO_AGE_LIMITS,
      auditRetentionDays: 365,
      deliver: () => undefined,
      logger: { info: () => undefined, warn, error: warn },
      nowMs: () => nowMs,
      clock: { agrees: () => Promise.resolve(true) },
    });
    upkeep.start();
    try {
      await vi.waitFor(async () => expect(await entries()).toBe(1), LIMIT);
      await vi.waitFor(() => {
        expect(removed.toSorted()).toEqual([crashed, deletesItself].toSorted());
      }, LIMIT);
      await vi.waitFor(async () => {
        const hours =
          await sql`select max_total, max_joined from concurrency_hours where account_id = ${accountId}`.execute(
            db.query,
          );
        expect(hours.rows).toEqual([{ max_total: 3, max_joined: 1 }]);
      }, LIMIT);
    } finally {
      await upkeep.close();
      await upkeep.close();
    }
    expect(logged).toEqual([]);
    expect(await getFilesToRemove(db, { nodeId, reachesShared: false }, crashed)).toBeNull();
    expect(await getDeletedCall(db, accountId, deletesItself)).toMatchObject({ recordingEnabled: true });
    expect(await getCall(db, accountId, pending)).toMatchObject({ billingStatus: "BILLED" });
    expect(await getCall(db, accountId, stays)).not.toBeNull();
    const samples = await sql<{ total: number; joined: number }>`
      select total, joined from concurrency_samples where account_id = ${accountId}`.execute(db.query);
    expect(samples.rows).toEqual([{ total: 1, joined: 0 }]);
  });

  it("continues with all else where one thing fails again and again", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    await sql`
      insert into webhook_deliveries (account_id, call_id, event, position, receiver, occurred_at, status, due_at, finished_at)
      select ${accountId}, gen_random_uuid(), 'call.ended', 2, 'old', now(), 'delivered', null, now() - interval '31 days'
      from generate_series(1, 2500)`.execute(db.query);
    const left = async (): Promise<number> =>
      (await sql`select 1 from webhook_deliveries where account_id = ${accountId}`.execute(db.query)).rows
        .length;
    const failed: unknown[] = [];
    const upkeep = openUpkeep({
      db,
      nodeId: "this node",
      recordings: { isShared: false, remove: () => Promise.resolve() },
      metering: DEFAULT_METERING,
      // No time can be computed from this.
      ageLimits: { ...NO_AGE_LIMITS, callsRetentionDays: Number.NaN },
      auditRetentionDays: 365,
      deliver: () => undefined,
      logger: {
        info: () => undefined,
        warn: () => undefined,
        error: (fields: unknown) => failed.push(fields),
      },
      nowMs: Date.now,
      clock: { agrees: () => Promise.resolve(true) },
    });
    upkeep.start();
    try {
      await vi.waitFor(async () => expect(await left()).toBe(0), LIMIT);
      await vi.waitFor(() => expect(failed).toMatchObject([{ work: "eraseByAge" }]), LIMIT);
    } finally {
      await upkeep.close();
    }
  });

  it("erases nothing while the clock of the machine is wrong", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const settings = { retentionPolicy: "auto_delete" };
    const call = newCall({ settings });
    await insertCall(db, accountId, call);
    const end = { endReason: "hangup", endedAtMs: Date.now() } as const;
    await markEnded(db, accountId, call.callId, end);
    let asked = 0;
    const upkeep = openUpkeep({
      db,
      nodeId: "this node",
      recordings: { isShared: false, remove: () => Promise.resolve() },
      metering: DEFAULT_METERING,
      ageLimits: { ...NO_AGE_LIMITS, callsRetentionDays: 1 },
      auditRetentionDays: 365,
      deliver: () => undefined,
      logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
      nowMs: Date.now,
      clock: {
        agrees: () => {
          asked += 1;
          return Promise.resolve(false);
        },
      },
    });
    upkeep.start();
    await vi.waitFor(() => expect(asked).toBeGreaterThanOrEqual(7), LIMIT);
    await upkeep.close();
    expect(await getCall(db, accountId, call.callId)).not.toBeNull();
  });
});
