import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { createAgent, getAgent } from "../agents/agents.ts";
import { appendCallEvent } from "./call-events.ts";
import { saveEventLog, saveEventLogChunk } from "./call-event-logs.ts";
import { getCall, insertCall, markJoined, type CallEnd } from "./calls.ts";
import { fixedTime, type SqlTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";
import {
  deleteCall,
  DELETION_WAIT_LIMIT_MS,
  getDeletedCall,
  listCallsToDelete,
  listDeletedCalls,
} from "./deleted-calls.ts";
import {
  noteRemovalFailure,
  markFilesRemoved,
  getFilesToRemove,
  listFilesToRemove,
} from "./files-to-remove.ts";
import { claimRequest, storeAnswer } from "../accounts/idempotent-answers.ts";
import { appendMessage } from "./messages.ts";
import { settleCall, DEFAULT_METERING } from "../accounts/metering.ts";
import { markRecordingShared } from "./shared-recordings.ts";
import { getPriorCall } from "./prior-calls.ts";
import { createWebhook } from "../webhooks/webhooks.ts";
import { markEnded, newCall, newMessage } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

const all = { limit: 100, after: null, direction: "forward" } as const;
const hangup = { endReason: "hangup" } as const;

type Changes = Parameters<typeof newCall>[0];

async function endedCall(
  db: Db,
  accountId: string,
  changes: Changes = {},
  end: Partial<CallEnd> & { readonly joinedMs?: number } = {},
) {
  const call = newCall(changes);
  const { joinedMs = 9_000, ...more } = end;
  await insertCall(db, accountId, call);
  const joinedAtMs = call.createdAtMs + 1_000;
  if (joinedMs > 0) await markJoined(db, accountId, call.callId, { joinedAtMs, clientVersion: null });
  await markEnded(db, accountId, call.callId, { ...hangup, endedAtMs: joinedAtMs + joinedMs, ...more });
  return call;
}

const of = (nodeId: string, reachesShared = false) => ({ nodeId, reachesShared });

/** Tables of the database that still hold a row with this id anywhere in it. */
async function tablesWith(db: Db, id: string): Promise<string[]> {
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public' order by 1`.execute(
    db.query,
  );
  const found: string[] = [];
  for (const { name } of tables.rows) {
    const rows =
      await sql`select 1 from ${sql.table(name)} as t where t::text like ${`%${id}%`} limit 1`.execute(
        db.query,
      );
    if (rows.rows.length > 0) found.push(name);
  }
  return found;
}

describeOnBothDatabases("deleted calls", (current) => {
  it("erases a call with everything that belongs to it, and keeps a note without content", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { agentId } = await createAgent(db, accountId, { name: "A", callTemplate: null });
    const settings = { systemPrompt: "Be kind.", recordingEnabled: true, maxDuration: "60s" };
    const call = await endedCall(db, accountId, {
      agentId,
      settings,
      metadata: { name: "needle-in-metadata" },
      nodeId: "node of the files",
    });
    const { callId } = call;
    const { stageId } = call.stage;
    await appendMessage(db, accountId, callId, stageId, newMessage(0, { text: "needle-in-message" }));
    await appendCallEvent(db, accountId, callId, {
      stageId,
      callTimestampMs: 0,
      wallClockTimestampMs: null,
      severity: "info",
      type: "call.joined",
      text: "needle-in-event",
      extras: null,
    });
    await saveEventLog(db, accountId, callId, { error: "x" });
    await saveEventLogChunk(db, accountId, callId, { index: 0, eventCount: 1, text: "{}\n" });
    await sql`update calls set summary = 'needle-in-summary' where id = ${callId}`.execute(db.query);
    expect((await tablesWith(db, callId)).length).toBeGreaterThanOrEqual(6);

    expect(await deleteCall(db, accountId, callId)).toBe("deleted");
    expect(await tablesWith(db, callId)).toEqual(["deleted_calls", "files_to_remove"]);
    expect(await tablesWith(db, stageId)).toEqual([]);
    expect(await tablesWith(db, "needle-in")).toEqual([]);
    expect(await deleteCall(db, accountId, callId)).toBe("not_found");
    const row = await getDeletedCall(db, accountId, callId);
    expect(row).toEqual({
      callId,
      accountId,
      createdAt: new Date(call.createdAtMs).toISOString(),
      joinedAt: new Date(call.createdAtMs + 1_000).toISOString(),
      endedAt: new Date(call.createdAtMs + 10_000).toISOString(),
      deletedAt: expect.stringMatching(/Z$/) as string,
      endReason: "hangup",
      recordingEnabled: true,
      hadSummary: true,
      maxDuration: "60s",
    });
    expect((await getAgent(db, accountId, agentId))?.callsCount).toBe(1);
    expect(await listFilesToRemove(db, { nodeId: "node of the files", reachesShared: false })).toEqual([
      { callId, failures: 0 },
    ]);
  });

  it("leaves a call that runs, that is not billed yet, or that is another account's", async () => {
    const { db } = current();
    const [accountId, stranger] = [await newAccount(db), await newAccount(db)];
    const running = newCall();
    await insertCall(db, accountId, running);
    expect(await deleteCall(db, accountId, running.callId)).toBe("too_early");
    const { callId } = await endedCall(db, accountId, {}, { settlesLater: true });
    expect(await deleteCall(db, accountId, callId)).toBe("too_early");
    expect(await deleteCall(db, stranger, callId)).toBe("not_found");
    expect(await settleCall(db, accountId, callId, DEFAULT_METERING)).toBe(true);
    expect(await deleteCall(db, stranger, callId)).toBe("not_found");
    expect(await getCall(db, accountId, callId)).not.toBeNull();
    expect(await deleteCall(db, accountId, callId)).toBe("deleted");
    expect(await getDeletedCall(db, stranger, callId)).toBeNull();
    expect((await listDeletedCalls(db, stranger, {}, all)).total).toBe(0);
  });

  it("erases stored answers to repeated requests that contain the call", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { callId } = await endedCall(db, accountId);
    const request = { accountId, key: "once", requestHash: "h" };
    const claimed = await claimRequest(db, request);
    if (claimed.kind !== "claimed") throw new Error(claimed.kind);
    const answer = { status: 201, headers: {}, body: JSON.stringify({ callId }) };
    await storeAnswer(db, claimed.claim, answer, callId);
    expect(await claimRequest(db, request)).toMatchObject({ kind: "answered", answer: { status: 201 } });
    await deleteCall(db, accountId, callId);
    expect(await claimRequest(db, request)).toMatchObject({ kind: "answered", answer: null });
  });

  it("deletes once when two requests come at the same time", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { callId } = await endedCall(db, accountId);
    const outcomes = await Promise.all([1, 2, 3].map(async () => deleteCall(db, accountId, callId)));
    expect(outcomes.toSorted()).toEqual(["deleted", "not_found", "not_found"]);
    expect((await listDeletedCalls(db, accountId, {}, all)).total).toBe(1);
  });

  it("lists the newest first, by filters of what is retained", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { agentId } = await createAgent(db, accountId, { name: "A", callTemplate: null });
    const days = ["2026-01-01T10:00:00.000Z", "2026-01-02T11:00:00.000Z", "2026-01-03T12:00:00.000Z"];
    const ids: string[] = [];
    for (const [index, day] of days.entries()) {
      const changes = {
        createdAtMs: Date.parse(day),
        metadata: { day },
        agentId: index === 1 ? agentId : null,
      };
      const { callId } = await endedCall(db, accountId, changes, { joinedMs: index * 5_000 });
      await deleteCall(db, accountId, callId);
      ids.push(callId);
    }
    const listed = async (filter: Parameters<typeof listDeletedCalls>[2]): Promise<number[]> => {
      const page = await listDeletedCalls(db, accountId, filter, all);
      expect(page.total).toBe(page.rows.length);
      return page.rows.map((row) => ids.indexOf(row.callId));
    };
    expect(await listed({})).toEqual([2, 1, 0]);
    expect(await listed({ agentIds: [agentId] })).toEqual([1]);
    expect(await listed({ fromDate: "2026-01-02T00:00:00.000Z" })).toEqual([2, 1]);
    expect(await listed({ toDate: "2026-01-01T23:59:59.999Z" })).toEqual([0]);
    expect(await listed({ durationMinMs: 5_000, durationMaxMs: 5_000 })).toEqual([1]);
    expect(await listed({ timeOfDayStart: "11:30:00" })).toEqual([2]);
    expect(await listed({ metadata: {} })).toEqual([2, 1, 0]);
    expect(await listed({ metadata: { day: days[0] ?? "" } })).toEqual([]);
    expect(await listed({ search: ids[0] ?? "" })).toEqual([]);
  });

  it("finds the calls that delete themselves, once they are billed", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const settings = { retentionPolicy: "auto_delete" };
    await endedCall(db, accountId, { settings: { retentionPolicy: "retain" } });
    await insertCall(db, accountId, newCall({ settings }));
    const pending = await endedCall(db, accountId, { settings }, { settlesLater: true });
    const due = await endedCall(db, accountId, { settings });
    const found = async (): Promise<string[]> =>
      (await listCallsToDelete(db))
        .filter((call) => call.accountId === accountId)
        .map(({ callId }) => callId);
    expect(await found()).toEqual([due.callId]);
    await settleCall(db, accountId, pending.callId, DEFAULT_METERING);
    expect((await found()).toSorted()).toEqual([due.callId, pending.callId].toSorted());
    expect(DELETION_WAIT_LIMIT_MS).toBe(86_400_000);
  });

  it("lists the files of a node until they are removed, later after a failure", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const changes = { nodeId: "n1", settings: { recordingEnabled: true } };
    const { callId } = await endedCall(db, accountId, changes);
    const unrecorded = await endedCall(db, accountId, { nodeId: "n1" });
    await deleteCall(db, accountId, callId);
    await deleteCall(db, accountId, unrecorded.callId);
    const now = Date.now();
    const at = (ms: number): SqlTime => fixedTime(now + ms);
    expect(await getFilesToRemove(db, of("n2"), callId)).toBeNull();
    expect(await listFilesToRemove(db, of("n2"))).toEqual([]);
    expect(await getFilesToRemove(db, of("n1"), callId)).toEqual({ callId, failures: 0 });
    await noteRemovalFailure(db, callId, 60_000, at(0));
    expect(await listFilesToRemove(db, of("n1"), at(59_999))).toEqual([]);
    expect(await listFilesToRemove(db, of("n1"), at(60_000))).toEqual([{ callId, failures: 1 }]);
    await markFilesRemoved(db, callId);
    expect(await getFilesToRemove(db, of("n1"), callId)).toBeNull();
  });

  it("leaves files that nodes share to any node that reaches them, and to no other", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const recorded = { nodeId: "n1", settings: { recordingEnabled: true } };
    const { callId } = await endedCall(db, accountId, recorded);
    expect(await markRecordingShared(db, callId)).toBe(true);
    await deleteCall(db, accountId, callId);
    expect(await markRecordingShared(db, callId)).toBe(false);
    for (const nodeId of ["n1", "n2"]) {
      expect(await getFilesToRemove(db, of(nodeId), callId)).toBeNull();
      expect(await listFilesToRemove(db, of(nodeId))).toEqual([]);
      expect(await getFilesToRemove(db, of(nodeId, true), callId)).toEqual({ callId, failures: 0 });
      expect(await listFilesToRemove(db, of(nodeId, true))).toEqual([{ callId, failures: 0 }]);
    }
    await markFilesRemoved(db, callId);
  });

  it("take their words out of the conversations with people who were to take them over", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const WORDS = "needle-of-the-caller";
    const settings = { systemPrompt: `Explain it. Caller: ${WORDS}`, recordingEnabled: false };
    const stage = { stageId: randomUUID(), settings };
    const plan = { version: 1, stage: { systemPrompt: settings.systemPrompt, model: "m" } };
    const caller = await endedCall(db, accountId);
    const about = await endedCall(db, accountId, { settings, stage, plan, consultationOf: caller.callId });
    const other = await endedCall(db, accountId, {
      settings,
      plan,
      metadata: { transferOfCallId: caller.callId },
    });
    await saveEventLog(db, accountId, about.callId, { plan });
    const { webhookId } = await createWebhook(db, accountId, {
      agentId: null,
      url: "https://a.example",
      events: ["call.ended"],
      secrets: ["s"],
    });
    const announced = await endedCall(db, accountId, {
      settings,
      stage: { ...stage, stageId: randomUUID() },
      plan,
      consultationOf: caller.callId,
    });
    const deliveries = async () =>
      (
        await sql`select call_id, status, call_record::text as record from webhook_deliveries where webhook_id = ${webhookId}`.execute(
          db.query,
        )
      ).rows;
    expect(await deliveries()).toMatchObject([
      { call_id: announced.callId, status: "pending", record: expect.stringContaining(WORDS) as string },
    ]);
    expect(await deleteCall(db, accountId, caller.callId)).toBe("deleted");
    expect(await deliveries()).toMatchObject([
      { call_id: announced.callId, status: "pending", record: expect.not.stringContaining(WORDS) as string },
    ]);

    const erased = await getPriorCall(db, accountId, about.callId, 10);
    expect(JSON.stringify(erased)).not.toContain(WORDS);
    expect(erased?.plan).toEqual({ version: 1, stage: { systemPrompt: "", model: "m" } });
    expect((await getCall(db, accountId, about.callId))?.settings).toEqual({
      systemPrompt: null,
      recordingEnabled: false,
    });
    const logs = await sql`select 1 from call_event_logs where call_id = ${about.callId}`.execute(db.query);
    expect(logs.rows).toEqual([]);
    // A conversation that goes on, and one that is only about to begin, have the words in memory.
    expect(await saveEventLog(db, accountId, about.callId, { plan })).toBe(false);
    expect(await saveEventLog(db, accountId, other.callId, { plan })).toBe(true);
    const late = newCall({ settings, plan, consultationOf: caller.callId });
    await expect(insertCall(db, accountId, late)).rejects.toThrow("was deleted");
    expect(await getCall(db, accountId, late.callId)).toBeNull();
    // Metadata alone make no call a conversation about another one.
    expect((await getCall(db, accountId, other.callId))?.settings).toEqual(settings);
  });
});
