import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { getAccount } from "../accounts/accounts.ts";
import { createAgent, deleteAgent, getAgent } from "../agents/agents.ts";
import {
  getCall,
  getCallForJoin,
  insertCall,
  listUnfinishedCalls,
  markJoined,
  removeUnstartedCall,
} from "./calls.ts";
import { matchesJoinToken } from "./join-targets.ts";
import { saveEventLog } from "./call-event-logs.ts";
import { listMessages } from "./messages.ts";
import { getPriorCall } from "./prior-calls.ts";
import { getStage, listStages } from "./stages.ts";
import { AgentGoneError, MaskedValueError } from "../database/store-errors.ts";
import { markEnded, newCall, newMessage } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { openedTexts } from "../testing/sealed.ts";

const firstPage = { limit: 10, after: null, direction: "forward" } as const;
const hangup = { endReason: "hangup" } as const;

describeOnBothDatabases("calls", (current) => {
  it("writes the call, its stage, its messages and the agent's count together", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const agent = await createAgent(db, accountId, { name: "Apples", callTemplate: null });
    const call = newCall({
      agentId: agent.agentId,
      agentRevisionId: agent.publishedRevisionId,
      createdAtMs: Date.parse("2026-03-04T05:06:07.089Z"),
      metadata: { order: "A-1", "weird \u0000 \ud800": "x\u0000y" },
      requestContext: { sip: { callerId: "1" } },
      initialMessages: [
        newMessage(0, { text: "hi\u0000", timespan: null, wallClockTimespan: null }),
        newMessage(1, { role: "tool_result", invocationId: "i", toolName: "t", callState: { a: [1] } }),
      ],
    });
    await insertCall(db, accountId, call);
    expect(await getCall(db, accountId, call.callId)).toEqual({
      callId: call.callId,
      accountId,
      agent: { agentId: agent.agentId, name: "Apples" },
      agentRevisionId: agent.publishedRevisionId,
      createdAt: "2026-03-04T05:06:07.089Z",
      joinedAt: null,
      endedAt: null,
      endReason: null,
      clientVersion: null,
      mediumKind: "serverWebSocket",
      joinToken: call.joinToken,
      settings: call.settings,
      metadata: { order: "A-1", "weird \uFFFD \uFFFD": "x\uFFFDy" },
      requestContext: { sip: { callerId: "1" } },
      durationMs: null,
      billedDurationMs: null,
      billingStatus: "PENDING",
      shortSummary: null,
      summary: null,
      hasErrors: false,
      firstWords: null,
      medianReplyMs: null,
      sideInputTokens: null,
      sideOutputTokens: null,
      sipBilledMs: null,
      sipTermination: null,
      engineUse: null,
    });
    expect((await getAgent(db, accountId, agent.agentId))?.callsCount).toBe(1);
    expect(await listStages(db, accountId, call.callId, firstPage)).toMatchObject({
      total: 1,
      rows: [
        { stageId: call.stage.stageId, position: 0, settings: call.stage.settings, latestTokenCount: null },
      ],
    });
    const messages = await listMessages(db, accountId, call.callId, { mode: "last_stage" }, firstPage);
    expect(messages.rows).toMatchObject([
      { index: 0, text: "hi\uFFFD", initial: true, timespan: null, stageId: call.stage.stageId },
      { index: 1, role: "tool_result", invocationId: "i", toolName: "t", callState: { a: [1] } },
    ]);
  });

  it("writes nothing for an agent that is gone, another account's, or a number of a message out of range", async () => {
    const { db } = current();
    const [accountId, stranger] = [await newAccount(db), await newAccount(db)];
    const { agentId } = await createAgent(db, accountId, { name: "a", callTemplate: null });
    const foreign = newCall({ agentId });
    await expect(insertCall(db, stranger, foreign)).rejects.toThrow(AgentGoneError);
    await deleteAgent(db, accountId, agentId);
    const late = newCall({ agentId });
    await expect(insertCall(db, accountId, late)).rejects.toThrow(AgentGoneError);
    const odd = newCall({ initialMessages: [newMessage(-1)] });
    await expect(insertCall(db, accountId, odd)).rejects.toThrow(RangeError);
    for (const { callId } of [foreign, late, odd]) expect(await getCallForJoin(db, callId)).toBeNull();
  });

  it("keeps the last name of a deleted agent", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { agentId } = await createAgent(db, accountId, { name: "a", callTemplate: null });
    const call = newCall({ agentId });
    await insertCall(db, accountId, call);
    await deleteAgent(db, accountId, agentId);
    expect((await getCall(db, accountId, call.callId))?.agent).toEqual({ agentId, name: "a" });
  });

  it("keeps the secrets of settings, plan and join out of every column", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const settings = {
      sharedSecrets: ["shared-secret-0123456789"],
      callbacks: { ended: { url: "https://example.com", secrets: ["callback-secret-1"] } },
      dataConnectionConfig: { websocketUrl: "wss://x", headers: { A: "Bearer header-secret" } },
    };
    const call = newCall({
      settings,
      stage: { stageId: randomUUID(), settings: { selectedTools: [{ authTokens: { a: "auth-token-1" } }] } },
      plan: { tools: [{ token: "plan-secret" }], prompt: "two apples" },
    });
    await insertCall(db, accountId, call);
    expect((await getCall(db, accountId, call.callId))?.settings).toEqual({
      callbacks: settings.callbacks,
      dataConnectionConfig: { websocketUrl: "wss://x", headers: { A: "Bear…" } },
    });
    expect((await getPriorCall(db, accountId, call.callId, 1))?.settings).toEqual(settings);
    expect((await getStage(db, accountId, call.callId, call.stage.stageId))?.settings).toEqual({
      selectedTools: [{}],
    });
    expect((await getCallForJoin(db, call.callId))?.plan).toEqual(call.plan);
    const raw = await sql<{ row: string }>`
      select calls::text as row from calls where id = ${call.callId}
      union all select call_stages::text from call_stages where call_id = ${call.callId}`.execute(db.query);
    const secrets = ["shared-secret", "callback-secret-1", "header-secret", "auth-token-1", "plan-secret"];
    for (const { row } of raw.rows) {
      for (const secret of [...secrets, call.joinToken]) expect(row).not.toContain(secret);
    }
  });

  it("knows the join token and no other", async () => {
    const { db } = current();
    const call = newCall();
    const accountId = await newAccount(db);
    await insertCall(db, accountId, call);
    const found = await getCallForJoin(db, call.callId);
    expect(found).toMatchObject({
      accountId,
      mediumKind: "serverWebSocket",
      createdAtMs: call.createdAtMs,
      joinedAtMs: null,
      endedAtMs: null,
    });
    // By the clock of the database; a minute for a busy machine.
    const leftMs = (found?.joinDeadlineMs ?? 0) - (found?.readAtMs ?? 0);
    expect(leftMs).toBeLessThanOrEqual(30_001);
    expect(leftMs).toBeGreaterThan(-30_000);
    expect(found !== null && matchesJoinToken(found, call.joinToken ?? "")).toBe(true);
    expect(found !== null && matchesJoinToken(found, `${call.joinToken}x`)).toBe(false);
    const dialled = newCall({ joinToken: null });
    await insertCall(db, accountId, dialled);
    const noToken = await getCallForJoin(db, dialled.callId);
    expect(noToken !== null && matchesJoinToken(noToken, "")).toBe(false);
    expect((await getCall(db, accountId, dialled.callId))?.joinToken).toBeNull();
  });

  it("is joined once, and not after its end", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall();
    await insertCall(db, accountId, call);
    const join = { joinedAtMs: call.createdAtMs + 1_500, clientVersion: "web 1\u0000" };
    expect(await markJoined(db, accountId, call.callId, join)).toBe(true);
    expect(await markJoined(db, accountId, call.callId, join)).toBe(false);
    const joined = await getCall(db, accountId, call.callId);
    expect(joined?.joinedAt).toBe(new Date(join.joinedAtMs).toISOString());
    expect(joined?.clientVersion).toBe("web 1\uFFFD");
    const over = newCall();
    await insertCall(db, accountId, over);
    await markEnded(db, accountId, over.callId, { ...hangup, endedAtMs: Date.now() });
    expect(await markJoined(db, accountId, over.callId, join)).toBe(false);
  });

  it("ends once, and never changes the reason of the first end", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall();
    await insertCall(db, accountId, call);
    const reasons = ["hangup", "timeout", "system_error", "agent_hangup", "connection_error"] as const;
    const endedAtMs = Date.now();
    const ended = await Promise.all(
      [...reasons, ...reasons, ...reasons].map(async (endReason) =>
        markEnded(db, accountId, call.callId, { endReason, endedAtMs }),
      ),
    );
    expect(ended.filter(Boolean)).toHaveLength(1);
    const stored = await getCall(db, accountId, call.callId);
    expect(stored?.endReason).toBe(reasons[ended.indexOf(true) % reasons.length]);
    expect(await markEnded(db, accountId, call.callId, { ...hangup, endedAtMs: endedAtMs + 1 })).toBe(false);
    expect(await getCall(db, accountId, call.callId)).toEqual(stored);
  });

  it.each([
    { joinedMs: null, endReason: "unjoined", status: "FREE_ZERO_EFFECTIVE_DURATION", duration: 0, billed: 0 },
    { joinedMs: 0, endReason: "hangup", status: "FREE_ZERO_EFFECTIVE_DURATION", duration: 0, billed: 0 },
    { joinedMs: 1, endReason: "hangup", status: "BILLED", duration: 1, billed: 6_000 },
    { joinedMs: 6_000, endReason: "timeout", status: "BILLED", duration: 6_000, billed: 6_000 },
    { joinedMs: 6_001, endReason: "hangup", status: "BILLED", duration: 6_001, billed: 12_000 },
    {
      joinedMs: 9_000,
      endReason: "system_error",
      status: "FREE_SYSTEM_ERROR",
      duration: 9_000,
      billed: 12_000,
    },
    { joinedMs: -5, endReason: "hangup", status: "FREE_ZERO_EFFECTIVE_DURATION", duration: 0, billed: 0 },
  ] as const)("meters $joinedMs ms that end with $endReason", async (row) => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall();
    await insertCall(db, accountId, call);
    const endedAtMs = call.createdAtMs + 3_600_000;
    if (row.joinedMs !== null) {
      const joinedAtMs = endedAtMs - row.joinedMs;
      await markJoined(db, accountId, call.callId, { joinedAtMs, clientVersion: null });
    }
    await markEnded(db, accountId, call.callId, {
      endReason: row.endReason,
      endedAtMs,
    });
    expect(await getCall(db, accountId, call.callId)).toMatchObject({
      endedAt: new Date(endedAtMs).toISOString(),
      durationMs: row.duration,
      billedDurationMs: row.billed,
      billingStatus: row.status,
    });
  });

  it("lists what a node left unfinished, oldest first, and counts it as active", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const nodeId = randomUUID();
    const calls = [3, 1, 2].map((second) => newCall({ nodeId, createdAtMs: second * 1000 }));
    for (const call of calls) await insertCall(db, accountId, call);
    await insertCall(db, accountId, newCall());
    const [third, first, second] = calls.map((call) => call.callId);
    await markJoined(db, accountId, second ?? "", { joinedAtMs: 2_500, clientVersion: null });
    expect(await listUnfinishedCalls(db, nodeId)).toEqual([
      { callId: first, accountId, createdAtMs: 1_000, joinedAtMs: null },
      { callId: second, accountId, createdAtMs: 2_000, joinedAtMs: 2_500 },
      { callId: third, accountId, createdAtMs: 3_000, joinedAtMs: null },
    ]);
    expect((await getAccount(db, accountId))?.activeCalls).toBe(4);
    await markEnded(db, accountId, first ?? "", { ...hangup, endedAtMs: 5_000 });
    expect((await listUnfinishedCalls(db, nodeId)).map((call) => call.callId)).toEqual([second, third]);
    expect((await getAccount(db, accountId))?.activeCalls).toBe(3);
  });

  it("removes a call that never ran, with all that belongs to it", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { agentId } = await createAgent(db, accountId, { name: "a", callTemplate: null });
    const call = newCall({ agentId, initialMessages: [newMessage(0)] });
    await insertCall(db, accountId, call);
    expect(await removeUnstartedCall(db, accountId, call.callId)).toBe("removed");
    expect(await removeUnstartedCall(db, accountId, call.callId)).toBe("not_there");
    expect(await getCall(db, accountId, call.callId)).toBeNull();
    expect((await getAgent(db, accountId, agentId))?.callsCount).toBe(0);
    const left = await sql`select 1 from call_messages where call_id = ${call.callId}
      union all select 1 from call_stages where call_id = ${call.callId}`.execute(db.query);
    expect(left.rows).toEqual([]);
    const joined = newCall();
    await insertCall(db, accountId, joined);
    await markJoined(db, accountId, joined.callId, { joinedAtMs: Date.now(), clientVersion: null });
    expect(await removeUnstartedCall(db, accountId, joined.callId)).toBe("not_there");
  });

  it("keeps the event log of a failed call, sealed, for its account", async () => {
    const { db } = current();
    const [owner, stranger] = [await newAccount(db), await newAccount(db)];
    const call = newCall();
    await insertCall(db, owner, call);
    const logsOf = (accountId: string) =>
      openedTexts(db, accountId, { table: "call_event_logs", column: "sealed_log" });
    const log = { error: "TypeError\u0000", plan: { token: "plan-secret" }, events: [{ atMs: 1.5 }] };
    expect(await saveEventLog(db, owner, call.callId, { error: "earlier" })).toBe(true);
    expect(await saveEventLog(db, owner, call.callId, log)).toBe(true);
    expect(await logsOf(owner)).toEqual([JSON.stringify(log)]);
    expect(await saveEventLog(db, stranger, call.callId, {})).toBe(false);
    expect(await logsOf(stranger)).toEqual([]);
    const raw = await sql<{ row: string }>`
      select call_event_logs::text as row from call_event_logs where call_id = ${call.callId}`.execute(
      db.query,
    );
    expect(raw.rows.map(({ row }) => row.includes("plan-secret"))).toEqual([false]);
  });

  it("refuses a masked header value, by the name that it has in a request", async () => {
    const { db } = current();
    const headers = { A: "Bear…" };
    const call = newCall({ settings: { dataConnectionConfig: { websocketUrl: "wss://x", headers } } });
    const failure = await insertCall(db, await newAccount(db), call).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MaskedValueError);
    expect((failure as MaskedValueError).fields).toEqual(["dataConnection.headers.A"]);
    expect(await getCallForJoin(db, call.callId)).toBeNull();
  });

  it("counts calls created at the same time", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { agentId } = await createAgent(db, accountId, { name: "a", callTemplate: null });
    await Promise.all(
      Array.from({ length: 40 }, async () => insertCall(db, accountId, newCall({ agentId }))),
    );
    expect((await getAgent(db, accountId, agentId))?.callsCount).toBe(40);
  });

  it("isolates accounts", async () => {
    const { db } = current();
    const [owner, stranger] = [await newAccount(db), await newAccount(db)];
    const call = newCall();
    await insertCall(db, owner, call);
    const join = { joinedAtMs: Date.now(), clientVersion: null };
    expect(await getCall(db, stranger, call.callId)).toBeNull();
    expect(await getPriorCall(db, stranger, call.callId, 1)).toBeNull();
    expect(await markJoined(db, stranger, call.callId, join)).toBe(false);
    expect(await markEnded(db, stranger, call.callId, { ...hangup, endedAtMs: 1 })).toBe(false);
    expect(await removeUnstartedCall(db, stranger, call.callId)).toBe("not_there");
    expect(await getStage(db, stranger, call.callId, call.stage.stageId)).toBeNull();
    expect((await listStages(db, stranger, call.callId, firstPage)).total).toBe(0);
    expect(await getCall(db, owner, call.callId)).toMatchObject({ joinedAt: null, endedAt: null });
    expect((await getAccount(db, stranger))?.activeCalls).toBe(0);
  });
});
