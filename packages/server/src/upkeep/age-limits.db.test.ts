import { sql } from "kysely";
import { expect, it, vi } from "vitest";
import { sweepByAge } from "./age-limits.ts";
import type { AgeLimits } from "../store/calls/age-limits.ts";
import { saveEventLogChunk, saveEventLogEnd } from "../store/calls/call-event-logs.ts";
import { listCalls } from "../store/calls/call-list.ts";
import { setCallSummaries } from "../store/calls/call-summaries.ts";
import { getCall, insertCall, markJoined } from "../store/calls/calls.ts";
import { deleteCall } from "../store/calls/deleted-calls.ts";
import { getFilesToRemove } from "../store/calls/files-to-remove.ts";
import { listMessages } from "../store/calls/messages.ts";
import { databaseTime, fixedTime, type SqlTime } from "../store/database/database-time.ts";
import { markEnded, newCall, newMessage, NO_AGE_LIMITS } from "../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";

const DAY_MS = 86_400_000;
const nowMs = Date.now();
const allMessages = { mode: "in_call", roles: null } as const;
const firstPage = { after: null, direction: "forward", limit: 10 } as const;

describeOnBothDatabases("limits by age", (current) => {
  const callOf = async (accountId: string, daysAgo: number, settings: object): Promise<string> => {
    const { db } = current();
    const at = nowMs - daysAgo * DAY_MS;
    const call = newCall({
      settings,
      createdAtMs: at,
      metadata: { color: "crimson" },
      initialMessages: [newMessage(0)],
    });
    await insertCall(db, accountId, call);
    await markJoined(db, accountId, call.callId, { joinedAtMs: at, clientVersion: null });
    await markEnded(db, accountId, call.callId, {
      endReason: "hangup",
      endedAtMs: at + 1_000,
    });
    await setCallSummaries(db, accountId, call.callId, { shortSummary: "Short", summary: "About vermilion" });
    await saveEventLogChunk(db, accountId, call.callId, { index: 0, eventCount: 1, text: "{}\n" });
    await saveEventLogEnd(db, accountId, call.callId, { chunks: 1, events: 1 });
    return call.callId;
  };
  const sweep = async (
    limits: Partial<AgeLimits>,
    accountId: string,
    time = (): SqlTime => fixedTime(nowMs),
  ): Promise<string[]> => {
    const { db } = current();
    const deleted: string[] = [];
    await sweepByAge({
      db,
      logger: { info: () => undefined },
      ageLimits: { ...NO_AGE_LIMITS, ...limits },
      time,
      signal: new AbortController().signal,
      deleteCall: async (call) => {
        if (call.accountId !== accountId) return false;
        deleted.push(call.callId);
        return (await deleteCall(db, call.accountId, call.callId)) === "deleted";
      },
    });
    return deleted;
  };
  const recorded = { recordingEnabled: true };

  it("keep everything where there are none", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const callId = await callOf(accountId, 10_000, recorded);
    expect(await sweep({}, accountId)).toEqual([]);
    expect((await getCall(db, accountId, callId))?.summary).toBe("About vermilion");
    expect(await getFilesToRemove(db, { nodeId: "test node", reachesShared: false }, callId)).toBeNull();
  });

  it("are counted by the clock of the database, whatever the clock of the node says", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const callId = await callOf(accountId, 80, recorded);
    vi.useFakeTimers({ toFake: ["Date"], now: nowMs + 400 * DAY_MS });
    try {
      const limits = { callsRetentionDays: 90, transcriptsRetentionDays: 90, recordingsRetentionDays: 90 };
      expect(await sweep(limits, accountId, () => databaseTime)).toEqual([]);
      expect((await getCall(db, accountId, callId))?.summary).toBe("About vermilion");
      expect(await getFilesToRemove(db, { nodeId: "test node", reachesShared: false }, callId)).toBeNull();
      expect(await sweep({ callsRetentionDays: 70 }, accountId, () => databaseTime)).toEqual([callId]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("take what was said from old calls, and nothing from others", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const [old, young] = [await callOf(accountId, 8, {}), await callOf(accountId, 6, {})];
    const goesOn = newCall({ createdAtMs: nowMs - 9 * DAY_MS, initialMessages: [newMessage(0)] });
    await insertCall(db, accountId, goesOn);
    await sweep({ transcriptsRetentionDays: 7 }, accountId);
    expect(await getCall(db, accountId, old)).toMatchObject({
      summary: null,
      shortSummary: null,
      metadata: { color: "crimson" },
      endReason: "hangup",
    });
    const left = async (callId: string): Promise<number[]> => {
      const counts = await Promise.all(
        ["call_messages", "call_event_log_chunks", "call_event_log_ends"].map((table) =>
          sql<{
            rows: number;
          }>`select count(*) as rows from ${sql.table(table)} where call_id = ${callId}`.execute(db.query),
        ),
      );
      return counts.map(({ rows }) => rows[0]?.rows ?? 0);
    };
    expect([await left(old), await left(young), await left(goesOn.callId)]).toEqual([
      [0, 0, 0],
      [1, 1, 1],
      [1, 0, 0],
    ]);
    const found = async (search: string): Promise<string[]> =>
      (await listCalls(db, accountId, { search }, firstPage)).rows.map(({ callId }) => callId);
    expect(await found("vermilion")).toEqual([young]);
    expect((await found("crimson")).toSorted()).toEqual([old, young].toSorted());
    expect(await listMessages(db, accountId, old, allMessages, firstPage)).toMatchObject({
      rows: [],
      total: 0,
    });
    // A second sweep finds nothing more to do.
    const erased = await sql<{ ids: number }>`
      select count(*) as ids from calls where account_id = ${accountId} and transcript_erased`.execute(
      db.query,
    );
    expect(erased.rows).toEqual([{ ids: 1 }]);
  });

  it("hand old recordings over to the nodes that have them, once", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const old = await callOf(accountId, 31, recorded);
    const without = await callOf(accountId, 31, {});
    const young = await callOf(accountId, 29, recorded);
    await sweep({ recordingsRetentionDays: 30 }, accountId);
    for (const [callId, due] of [
      [old, true],
      [without, false],
      [young, false],
    ] as const) {
      expect([
        callId,
        (await getFilesToRemove(db, { nodeId: "test node", reachesShared: false }, callId)) !== null,
      ]).toEqual([callId, due]);
    }
    await sql`delete from files_to_remove where call_id = ${old}`.execute(db.query);
    await sweep({ recordingsRetentionDays: 30 }, accountId);
    expect(await getFilesToRemove(db, { nodeId: "test node", reachesShared: false }, old)).toBeNull();
    expect((await getCall(db, accountId, old))?.summary).toBe("About vermilion");
  });

  it("delete whole calls in many portions, and give up where none can be deleted", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const first = await callOf(accountId, 100, {});
    await sql`insert into calls (id, account_id, node_id, created_at, join_deadline_at, ended_at, end_reason, medium_kind,
        settings, sealed_plan, metadata, search_text, billing_status)
      select gen_random_uuid(), account_id, node_id, created_at, join_deadline_at, ended_at, end_reason, medium_kind,
        settings, sealed_plan, metadata, search_text, billing_status
      from calls, generate_series(1, 250) where id = ${first}`.execute(db.query);
    const young = await callOf(accountId, 80, {});
    const deleted = await sweep({ callsRetentionDays: 90 }, accountId);
    expect([deleted.length, new Set(deleted).size, deleted.includes(young)]).toEqual([251, 251, false]);
    expect((await listCalls(db, accountId, {}, firstPage)).total).toBe(1);
  });
});
