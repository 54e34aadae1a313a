import type { EndReason } from "@parley/schema";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { getCall, insertCall, markJoined, type CallEnd, type NewCall } from "../calls/calls.ts";
import { fixedTime } from "../database/database-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { deleteCall } from "../calls/deleted-calls.ts";
import { DEFAULT_METERING, refundCall, settleCall, settleOverdueCalls, type Metering } from "./metering.ts";
import type { BillingStatus } from "../database/tables/calls.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { readCallUsage } from "./usage.ts";

const off: Metering = { ...DEFAULT_METERING, enabled: false };

interface Case {
  /** Null: the call was not joined. */
  readonly joinedMs: number | null;
  readonly endReason: EndReason;
  readonly metering?: Metering;
  readonly isOfConsole?: boolean;
  readonly status: BillingStatus;
  readonly billed: number;
}

describeOnBothDatabases("metering", (current) => {
  async function ended(
    db: Db,
    accountId: string,
    joinedMs: number | null,
    end: Partial<CallEnd> = {},
    changes: Partial<NewCall> = {},
  ): Promise<string> {
    const call = newCall(changes);
    await insertCall(db, accountId, call);
    const endedAtMs = call.createdAtMs + 100_000;
    if (joinedMs !== null) {
      await markJoined(db, accountId, call.callId, { joinedAtMs: endedAtMs - joinedMs, clientVersion: null });
    }
    const hangup = { endReason: "hangup", endedAtMs } as const;
    expect(await markEnded(db, accountId, call.callId, { ...hangup, ...end })).toBe(true);
    return call.callId;
  }

  const cases: readonly Case[] = [
    { joinedMs: null, endReason: "unjoined", status: "FREE_ZERO_EFFECTIVE_DURATION", billed: 0 },
    { joinedMs: 0, endReason: "hangup", status: "FREE_ZERO_EFFECTIVE_DURATION", billed: 0 },
    { joinedMs: 1, endReason: "hangup", status: "BILLED", billed: 6_000 },
    { joinedMs: 6_000, endReason: "timeout", status: "BILLED", billed: 6_000 },
    { joinedMs: 6_001, endReason: "connection_error", status: "BILLED", billed: 12_000 },
    { joinedMs: 6_001, endReason: "system_error", status: "FREE_SYSTEM_ERROR", billed: 12_000 },
    {
      joinedMs: 6_001,
      endReason: "hangup",
      metering: { ...DEFAULT_METERING, unitMs: 60_000 },
      status: "BILLED",
      billed: 60_000,
    },
    { joinedMs: 6_001, endReason: "hangup", metering: off, status: "FREE_OTHER", billed: 12_000 },
    {
      joinedMs: 6_001,
      endReason: "system_error",
      metering: off,
      status: "FREE_SYSTEM_ERROR",
      billed: 12_000,
    },
    { joinedMs: 1, endReason: "hangup", isOfConsole: true, status: "FREE_CONSOLE", billed: 6_000 },
    {
      joinedMs: 1,
      endReason: "hangup",
      isOfConsole: true,
      metering: off,
      status: "FREE_CONSOLE",
      billed: 6_000,
    },
    {
      joinedMs: 1,
      endReason: "hangup",
      isOfConsole: true,
      metering: { ...DEFAULT_METERING, consoleIsFree: false },
      status: "BILLED",
      billed: 6_000,
    },
    { joinedMs: 1, endReason: "system_error", isOfConsole: true, status: "FREE_SYSTEM_ERROR", billed: 6_000 },
    {
      joinedMs: null,
      endReason: "unjoined",
      isOfConsole: true,
      status: "FREE_ZERO_EFFECTIVE_DURATION",
      billed: 0,
    },
  ];

  it.each(cases)("$joinedMs ms that end with $endReason are $status", async (row) => {
    const { db } = current();
    const accountId = await newAccount(db);
    const metering = row.metering ?? DEFAULT_METERING;
    const final = { billingStatus: row.status, billedDurationMs: row.billed, durationMs: row.joinedMs ?? 0 };
    const { isOfConsole = false } = row;
    const end = { endReason: row.endReason, metering };
    const atOnce = await ended(db, accountId, row.joinedMs, end, { isOfConsole });
    expect(await getCall(db, accountId, atOnce)).toMatchObject(final);
    const later = await ended(db, accountId, row.joinedMs, { ...end, settlesLater: true }, { isOfConsole });
    const pending = row.joinedMs === null ? final : { ...final, billingStatus: "PENDING" };
    expect(await getCall(db, accountId, later)).toMatchObject(pending);
    expect(await settleCall(db, accountId, later, metering)).toBe(row.joinedMs !== null);
    expect(await getCall(db, accountId, later)).toMatchObject(final);
    const { all } = await readCallUsage(db, accountId, {}, { days: 10, hours: 10 });
    const isError = row.endReason === "connection_error" || row.endReason === "system_error";
    expect(all).toEqual({
      calls: 2,
      joined: row.joinedMs === null ? 0 : 2,
      errors: isError ? 2 : 0,
      durationMs: 2 * (row.joinedMs ?? 0),
      billedMs: row.status === "BILLED" ? 2 * row.billed : 0,
    });
  });

  it("settles only what has ended and is pending, and of its own account", async () => {
    const { db } = current();
    const [accountId, stranger] = [await newAccount(db), await newAccount(db)];
    const running = newCall();
    await insertCall(db, accountId, running);
    expect(await settleCall(db, accountId, running.callId, DEFAULT_METERING)).toBe(false);
    const callId = await ended(db, accountId, 5_000, { settlesLater: true });
    expect(await settleCall(db, stranger, callId, DEFAULT_METERING)).toBe(false);
    const both = [1, 2].map(async () => settleCall(db, accountId, callId, DEFAULT_METERING));
    expect((await Promise.all(both)).filter((isSettled) => isSettled)).toHaveLength(1);
    const { all } = await readCallUsage(db, accountId, {}, { days: 1, hours: 1 });
    expect(all.billedMs).toBe(6_000);
  });

  it("settles what a crash left pending, several of one hour at once", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const atMs = Date.parse("2020-05-05T05:05:05.000Z");
    const ids = await Promise.all(
      [1_000, 7_000, 13_000].map(async (joinedMs) =>
        ended(db, accountId, joinedMs, { settlesLater: true, endedAtMs: atMs }),
      ),
    );
    // Joined after this end: its joined time is 0.
    expect(await settleOverdueCalls(db, DEFAULT_METERING, 0, fixedTime(atMs))).toBe(0);
    expect(await settleOverdueCalls(db, DEFAULT_METERING, 0, fixedTime(atMs + 1))).toBe(3);
    expect(await settleOverdueCalls(db, DEFAULT_METERING, 0, fixedTime(atMs + 1))).toBe(0);
    const statuses = await Promise.all(
      ids.map(async (id) => (await getCall(db, accountId, id))?.billingStatus),
    );
    expect(new Set(statuses)).toEqual(new Set(["FREE_ZERO_EFFECTIVE_DURATION"]));
    const more = await Promise.all(
      [1_000, 7_000].map(async (joinedMs) => ended(db, accountId, joinedMs, { settlesLater: true })),
    );
    expect(await settleOverdueCalls(db, DEFAULT_METERING, 0, fixedTime(Date.now() + 1_000_000))).toBe(2);
    expect((await getCall(db, accountId, more[0] ?? ""))?.billingStatus).toBe("BILLED");
    const { all } = await readCallUsage(db, accountId, {}, { days: 1, hours: 1 });
    expect(all.billedMs).toBe(18_000);
  });

  it("locks the hours that it bills in one order, so that two of these statements never wait for each other", async ({
    skip,
  }) => {
    const { db, databaseUrl } = current();
    // The embedded database runs one transaction at a time.
    if (databaseUrl === null) {
      skip();
      return;
    }
    const accountId = await newAccount(db);
    const hourAt = (hour: number): number => Date.parse("2021-03-04T05:00:00.000Z") + hour * 3_600_000;
    // The rows are created in another order than that of the hours.
    for (const hour of [4, 2, 0, 3, 1]) {
      await ended(db, accountId, 5_000, { settlesLater: true }, { createdAtMs: hourAt(hour) });
    }
    const ofHour = (hour: number) =>
      sql`account_id = ${accountId} and hour_at = ${new Date(hourAt(hour))}::timestamptz`;
    const isBlocked = async (): Promise<boolean> => {
      const waiting = await sql`select 1 from pg_locks join pg_stat_activity using (pid)
        where not granted and datname = current_database()`.execute(db.query);
      return waiting.rows.length > 0;
    };
    const free = async (): Promise<number[]> => {
      const rows = await sql<{ at: Date }>`select hour_at as at from usage_hours
        where account_id = ${accountId} for update skip locked`.execute(db.query);
      return rows.rows
        .map(({ at }) => (new Date(at).getTime() - hourAt(0)) / 3_600_000)
        .sort((a, b) => a - b);
    };
    const held = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holder = inTransaction(db, async (tx) => {
      await sql`select 1 from usage_hours where ${ofHour(2)} for update`.execute(tx.query);
      held.resolve();
      await release.promise;
    });
    await held.promise;
    const settled = settleOverdueCalls(db, DEFAULT_METERING, 0, fixedTime(Date.now() + 1_000_000));
    await expect.poll(isBlocked).toBe(true);
    // It has the hours before the one that it waits for, and none after it.
    expect(await free()).toEqual([3, 4]);
    release.resolve();
    await holder;
    expect(await settled).toBeGreaterThanOrEqual(5);
    const { all } = await readCallUsage(db, accountId, {}, { days: 1, hours: 1 });
    expect(all.billedMs).toBe(5 * 6_000);
  });

  it("refunds a billed call once, deleted or not, and takes it from the figures", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const kept = await ended(db, accountId, 5_000);
    const deleted = await ended(db, accountId, 7_000);
    const free = await ended(db, accountId, null);
    await deleteCall(db, accountId, deleted);
    const billed = async (): Promise<number> =>
      (await readCallUsage(db, accountId, {}, { days: 1, hours: 1 })).all.billedMs;
    expect(await billed()).toBe(18_000);
    expect(await refundCall(db, kept)).toBe(accountId);
    expect((await getCall(db, accountId, kept))?.billingStatus).toBe("REFUNDED");
    expect(await billed()).toBe(12_000);
    expect(await refundCall(db, kept)).toBeNull();
    expect(await refundCall(db, deleted)).toBe(accountId);
    expect(await billed()).toBe(0);
    expect(await refundCall(db, deleted)).toBeNull();
    expect(await refundCall(db, free)).toBeNull();
    expect(await refundCall(db, newCall().callId)).toBeNull();
    expect((await getCall(db, accountId, free))?.billingStatus).toBe("FREE_ZERO_EFFECTIVE_DURATION");
  });
});
