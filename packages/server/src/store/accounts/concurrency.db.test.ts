import { sql } from "kysely";
import { expect, it } from "vitest";
import { insertCall, markJoined } from "../calls/calls.ts";
import {
  foldSamples,
  HOUR_RETENTION_MS,
  readConcurrency,
  SAMPLE_INTERVAL_MS,
  sampleConcurrency,
  SAMPLE_RETENTION_MS,
  sampleTimeMs,
} from "./concurrency.ts";
import { fixedTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

const hourMs = 3_600_000;
const minuteMs = 60_000;
const start = Date.parse("2026-03-01T12:00:00.000Z");

async function callsOf(
  db: Db,
  accountId: string,
  nodeId: string,
  joined: readonly boolean[],
): Promise<string[]> {
  return Promise.all(
    joined.map(async (isJoined) => {
      const call = newCall({ nodeId });
      await insertCall(db, accountId, call);
      if (isJoined) await markJoined(db, accountId, call.callId, { joinedAtMs: start, clientVersion: null });
      return call.callId;
    }),
  );
}

async function sample(db: Db, accountId: string, atMs: number, total: number, nodeId = "n"): Promise<void> {
  await sql`insert into concurrency_samples (account_id, at, node_id, total, joined)
    values (${accountId}, ${new Date(atMs)}, ${nodeId}, ${total}, ${total - 1})`.execute(db.query);
}

describeOnBothDatabases("concurrency", (current) => {
  it("adds up what the nodes have at one moment, and counts a moment once", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const [first = ""] = await callsOf(db, accountId, "left", [true, false, true]);
    await callsOf(db, accountId, "right", [true, false]);
    await sampleConcurrency(db, "left", start + 1);
    await sampleConcurrency(db, "left", start + SAMPLE_INTERVAL_MS - 1);
    await sampleConcurrency(db, "right", start + 5_000);
    const end = { endReason: "hangup", endedAtMs: start } as const;
    await markEnded(db, accountId, first, end);
    await sampleConcurrency(db, "left", start + SAMPLE_INTERVAL_MS);
    const span = { startMs: start, endMs: start + hourMs, lengthMs: minuteMs };
    expect(await readConcurrency(db, accountId, span)).toEqual([
      { bucketMs: start, maxTotal: 5, maxJoined: 3, sumTotal: 7, sumJoined: 4 },
    ]);
    expect(await readConcurrency(db, await newAccount(db), span)).toEqual([]);
    expect(await readConcurrency(db, accountId, { ...span, startMs: start + minuteMs })).toEqual([]);
    expect(sampleTimeMs(start + 19_999)).toBe(start + 10_000);
  });

  it("folds old samples into hours without changing what hours and days tell", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const samples: readonly [number, number, string][] = [
      [start, 4, "a"],
      [start, 3, "b"],
      [start + 30 * minuteMs, 5, "a"],
      [start + hourMs, 2, "a"],
      [start + 20 * hourMs, 9, "a"],
      [start + 21 * hourMs, 6, "b"],
    ];
    for (const [atMs, total, nodeId] of samples) await sample(db, accountId, atMs, total, nodeId);
    const read = async (lengthMs: number) => {
      const startMs = Math.floor(start / lengthMs) * lengthMs;
      return readConcurrency(db, accountId, { startMs, endMs: startMs + 48 * hourMs, lengthMs });
    };
    const [hours, days] = [await read(hourMs), await read(24 * hourMs)];
    expect(hours).toEqual([
      { bucketMs: start, maxTotal: 7, maxJoined: 5, sumTotal: 12, sumJoined: 9 },
      { bucketMs: start + hourMs, maxTotal: 2, maxJoined: 1, sumTotal: 2, sumJoined: 1 },
      { bucketMs: start + 20 * hourMs, maxTotal: 9, maxJoined: 8, sumTotal: 9, sumJoined: 8 },
      { bucketMs: start + 21 * hourMs, maxTotal: 6, maxJoined: 5, sumTotal: 6, sumJoined: 5 },
    ]);
    expect(await read(minuteMs)).toHaveLength(5);
    const left = async () =>
      (
        await sql<{ at: string }>`select distinct at from concurrency_samples where account_id = ${accountId}
        order by 1`.execute(db.query)
      ).rows.map(({ at }) => Date.parse(at));
    // The hour that is only partly more than a week old stays.
    await foldSamples(db, fixedTime(start + 21 * hourMs + SAMPLE_RETENTION_MS + 59 * minuteMs));
    expect(await left()).toEqual([start + 21 * hourMs]);
    expect([await read(hourMs), await read(24 * hourMs)]).toEqual([hours, days]);
    await foldSamples(db, fixedTime(start + 22 * hourMs + SAMPLE_RETENTION_MS));
    expect(await left()).toEqual([]);
    expect([await read(hourMs), await read(24 * hourMs)]).toEqual([hours, days]);
    expect(await read(minuteMs)).toEqual([]);
    await foldSamples(db, fixedTime(start + HOUR_RETENTION_MS + 1));
    expect(await read(hourMs)).toEqual(hours.slice(1));
  });
});
