import type { EndReason } from "@parley/schema";
import { expect, it } from "vitest";
import { getCall, insertCall, markJoined, type CallEnd } from "../calls/calls.ts";
import { fixedTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";
import { deleteCall } from "../calls/deleted-calls.ts";
import { DEFAULT_METERING, refundCall, settleCall, settleOverdueCalls, type Metering } from "./metering.ts";
import type { BillingStatus } from "../database/tables/calls.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { readCallUsage } from "./usage.ts";

const off: Metering = { unitMs: 6_000, enabled: false };

interface Case {
  /** Null: the call was not joined. */
  readonly joinedMs: number | null;
  readonly endReason: EndReason;
  readonly metering?: Metering;
  readonly status: BillingStatus;
  readonly billed: number;
}

describeOnBothDatabases("metering", (current) => {
  async function ended(
    db: Db,
    accountId: string,
    joinedMs: number | null,
    end: Partial<CallEnd> = {},
  ): Promise<string> {
    const call = newCall();
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
      metering: { unitMs: 60_000, enabled: true },
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
  ];

  it.each(cases)("$joinedMs ms that end with $endReason are $status", async (row) => {
    const { db } = current();
    const accountId = await newAccount(db);
    const metering = row.metering ?? DEFAULT_METERING;
    const final = { billingStatus: row.status, billedDurationMs: row.billed, durationMs: row.joinedMs ?? 0 };
    const atOnce = await ended(db, accountId, row.joinedMs, { endReason: row.endReason, metering });
    expect(await getCall(db, accountId, atOnce)).toMatchObject(final);
    const later = await ended(db, accountId, row.joinedMs, {
      endReason: row.endReason,
      metering,
      settlesLater: true,
    });
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
