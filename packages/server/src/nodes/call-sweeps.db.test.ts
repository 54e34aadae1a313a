import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, it, vi } from "vitest";
import type { CallEngineSums } from "@parley/schema";
import { SNAPSHOT_VERSION } from "../call/adoption/snapshot.ts";
import type { EndCall } from "../lifecycle/end/ending.ts";
import { openCallSweeps, type CallSweeps, type SweepTimes } from "./call-sweeps.ts";
import { createAccount, setAccountLimits } from "../store/accounts/accounts.ts";
import { insertAdmittedCall } from "../store/accounts/admission.ts";
import { listCallEvents } from "../store/calls/call-events.ts";
import { getCall, insertCall, markJoined, type NewCall } from "../store/calls/calls.ts";
import type { Db } from "../store/database/db.ts";
import { claimNode } from "../store/nodes/node-claims.ts";
import { deleteOldNodes, endStrayCalls } from "../store/nodes/nodes.ts";
import { CallNotAdmittedError } from "../store/database/store-errors.ts";
import { markEnded, newCall } from "../store/testing/calls.ts";
import { saveSnapshot } from "../store/snapshots/call-snapshots.ts";
import { endOrphans, markOrphans } from "../store/snapshots/orphans.ts";
import { startChild } from "../store/testing/child.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";
import { lapse, startNode } from "../store/testing/leases.ts";

const QUICK = { sweepMs: 20, lostMs: 60_000, straysMs: 3_600_000 };
const LIMIT = { timeout: 30_000, interval: 20 };
const FREE = { throttleId: null, accountRates: [] };
const SUMS: CallEngineSums = {
  kind: "llm",
  engine: "an engine",
  provider: "a provider",
  model: null,
  requests: 3,
  failures: 0,
  dropped: 0,
  latencies: 3,
  latencySumMs: 900,
  latencyMaxMs: 400,
  latencyMedianMs: null,
  inputTokens: 40,
  cachedInputTokens: 0,
  outputTokens: 20,
  uncounted: 0,
  heardMs: 0,
  characters: 0,
  spokenMs: 0,
  costNanos: 0,
  unpriced: 0,
};
const allEvents = { minimumSeverity: "debug", type: null } as const;
const firstPage = { after: null, direction: "forward", limit: 10 } as const;

describeOnBothDatabases("calls that no process runs", (current) => {
  const opened: CallSweeps[] = [];
  const inJournal: string[] = [];
  /** The boots of these tests have the names of their nodes. */
  const nodeOf = (nodeId: string) => ({ nodeId, bootId: nodeId });
  const beat = (nodeId: string): Promise<void> => startNode(current().db, nodeOf(nodeId));
  const silence = (nodeId: string): Promise<void> => lapse(current().db, nodeId, 120_000);
  const sweep = async (
    nodeId: string,
    calls: readonly string[] = [],
    {
      resumeTimeoutMs = 30_000,
      steadyMs = 3_600_000,
      ...times
    }: Partial<SweepTimes> & { readonly resumeTimeoutMs?: number; readonly steadyMs?: number } = {},
  ): Promise<CallSweeps> => {
    const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const { db } = current();
    const endCall: EndCall = (accountId, callId, end, tx = db) => markEnded(tx, accountId, callId, end);
    await beat(nodeId);
    const deps = {
      db,
      node: nodeOf(nodeId),
      liveCalls: { callIds: () => calls },
      journaled: () => inJournal,
      lease: { steadyMs: () => steadyMs, trustsOthers: () => steadyMs > 0 },
      letGo: () => Promise.resolve(),
      endCall,
      resumeTimeoutMs,
      currency: "EUR",
      logger,
    };
    const started = openCallSweeps(deps, { ...QUICK, ...times });
    opened.push(started);
    started.start();
    return started;
  };
  const closeAll = async (): Promise<void> => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  };
  const callOf = async (
    accountId: string,
    nodeId: string,
    changes: Partial<NewCall> = {},
  ): Promise<string> => {
    const stageId = randomUUID();
    const plan = { version: 1, maxDurationMs: 3_600_000, stage: { stageId } };
    const call = newCall({ nodeId, plan, stage: { stageId, settings: {} }, ...changes });
    await insertCall(current().db, accountId, call);
    return call.callId;
  };
  const joinCall = (accountId: string, callId: string, nodeId: string, bootId = nodeId): Promise<boolean> => {
    const join = { joinedAtMs: Date.now() - 300_000, clientVersion: null, by: { nodeId, bootId } };
    return markJoined(current().db, accountId, callId, join);
  };

  it("a call whose process is gone ends once, with connection_error, when its client stays away", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const nodeId = "restarted";
    await startNode(db, { nodeId, bootId: "before" });
    const callId = await callOf(accountId, nodeId);
    await joinCall(accountId, callId, nodeId, "before");
    const document = JSON.stringify({ snapshot: { version: SNAPSHOT_VERSION }, use: [SUMS] });
    const snapshot = { accountId, callId, version: 1, document };
    expect(await saveSnapshot(db, { nodeId, bootId: "before" }, snapshot)).toBe("saved");
    // The next process of the same node: that of before is certainly gone.
    await sweep(nodeId, [], { resumeTimeoutMs: 0 });
    await vi.waitFor(async () => {
      expect(await getCall(db, accountId, callId)).toMatchObject({ endReason: "connection_error" });
    }, LIMIT);
    const events = await listCallEvents(db, accountId, callId, allEvents, firstPage);
    expect(events.rows.map(({ type }) => type)).toEqual(["call.ended"]);
    // It has used what its snapshot knows of.
    const used = await db.query.selectFrom("calls").select("engine_use").where("id", "=", callId).execute();
    expect(used).toEqual([{ engine_use: { currency: "EUR", engines: [SUMS] } }]);
    await closeAll();
  });

  it("end once, by one of all that sweep, and their accounts get the places back", async () => {
    const { db } = current();
    const { accountId } = await createAccount(db, "limited");
    await setAccountLimits(db, accountId, { allowedConcurrentCalls: 3 });
    const nodeId = randomUUID();
    await beat(nodeId);
    const joined = await callOf(accountId, nodeId);
    await joinCall(accountId, joined, nodeId);
    const missed = await callOf(accountId, nodeId, { joinDeadlineMs: Date.now() - 1_000 });
    const waiting = await callOf(accountId, nodeId, { joinDeadlineMs: Date.now() + 600_000 });
    const another = newCall({ nodeId: "elsewhere" });
    await expect(insertAdmittedCall(db, accountId, another, FREE)).rejects.toThrow(CallNotAdmittedError);
    await silence(nodeId);
    await Promise.all(["a", "b", "c"].map((name) => sweep(`${name} ${randomUUID()}`)));
    await vi.waitFor(async () => {
      expect((await getCall(db, accountId, joined))?.endReason).toBe("system_error");
      expect((await getCall(db, accountId, missed))?.endReason).toBe("unjoined");
    }, LIMIT);
    await closeAll();
    expect((await getCall(db, accountId, joined))?.billingStatus).toBe("FREE_SYSTEM_ERROR");
    expect((await getCall(db, accountId, waiting))?.endReason).toBeNull();
    for (const callId of [joined, missed]) {
      const events = await listCallEvents(db, accountId, callId, allEvents, firstPage);
      expect(events.rows.map(({ type }) => type)).toEqual(["call.ended"]);
    }
    await insertAdmittedCall(db, accountId, another, FREE);
    const counted = sql<{ errors: number; calls: number }>`
      select sum(errors)::int as errors, sum(calls)::int as calls from usage_hours where account_id = ${accountId}`;
    expect((await counted.execute(db.query)).rows).toEqual([{ errors: 1, calls: 2 }]);
  });

  it("are not judged by a process that has reached the database for a moment only, nor by itself", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const [other, own] = [randomUUID(), randomUUID()];
    await beat(other);
    const [foreign, mine] = [await callOf(accountId, other), await callOf(accountId, own)];
    await joinCall(accountId, foreign, other);
    const fresh = { resumeTimeoutMs: 0, lostMs: 0, steadyMs: 0 };
    await sweep(own, [mine], fresh);
    await joinCall(accountId, mine, own);
    await Promise.all([other, own].map(silence));
    await sweep(randomUUID(), [], fresh);
    const node = nodeOf(own);
    expect(await markOrphans(db, { boot: node, trustsLeases: false })).toBe(0);
    // Its own lease is late as well, while it waits for the statement.
    expect(await markOrphans(db, { boot: node, trustsLeases: true })).toBe(1);
    const end = (): Promise<void> => Promise.reject(new Error("ended"));
    const limits = { boot: node, trustsLeases: false, resumableMs: 0, lostMs: 0 };
    expect(await endOrphans(db, limits, end)).toBe(0);
    await beat(other);
    expect(await endOrphans(db, { ...limits, trustsLeases: true }, end)).toBe(0);
    await closeAll();
    for (const callId of [foreign, mine]) {
      expect((await getCall(db, accountId, callId))?.endedAt).toBeNull();
    }
  });

  it("are also those that are open as calls of the process itself, and no others", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const nodeId = randomUUID();
    const later = { joinDeadlineMs: Date.now() + 600_000 };
    const ids = await Promise.all(Array.from({ length: 4 }, () => callOf(accountId, nodeId, later)));
    // A call that can still be joined belongs to nobody.
    const [live = "", journaled = "", waiting = "", joined = ""] = ids;
    const passed = { createdAtMs: Date.now() - 60_000, joinDeadlineMs: Date.now() - 30_000 };
    const stray = await callOf(accountId, nodeId, passed);
    const foreign = await callOf(accountId, randomUUID(), later);
    await joinCall(accountId, joined, nodeId);
    inJournal.push(journaled);
    // Before a shutdown calls are left to the next start.
    const stopping = randomUUID();
    const left = await callOf(accountId, stopping, later);
    await joinCall(accountId, left, stopping);
    (await sweep(stopping, [], { straysMs: 60 })).leaveCalls();
    await sweep(nodeId, [live], { straysMs: 60 });
    await vi.waitFor(async () => {
      expect((await getCall(db, accountId, joined))?.endReason).toBe("system_error");
      expect((await getCall(db, accountId, stray))?.endReason).toBe("unjoined");
    }, LIMIT);
    await closeAll();
    for (const callId of [live, journaled, waiting, foreign, left]) {
      expect((await getCall(db, accountId, callId))?.endedAt).toBeNull();
    }
  });

  it("are not strays of a process whose node another one has taken", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const nodeId = randomUUID();
    const callId = await callOf(accountId, nodeId);
    await joinCall(accountId, callId, nodeId, "before");
    await claimNode(db, { nodeId, bootId: "next" }, { endedBootIds: [], lock: "exclusive" });
    const end = (): Promise<void> => Promise.reject(new Error("ended"));
    expect(await endStrayCalls(db, { nodeId, bootId: "before" }, [callId], end)).toBe(0);
    // It waits for its client, for whom the next process goes on with it.
    expect(await endStrayCalls(db, { nodeId, bootId: "next" }, [callId], end)).toBe(0);
  });

  it("end in the order of the hours that usage is counted in", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const nodeId = randomUUID();
    await claimNode(db, { nodeId, bootId: nodeId }, { endedBootIds: [], lock: "exclusive" });
    const startMs = Date.parse("2021-03-04T05:00:00.000Z");
    const calls = new Map<number, string>();
    for (const hour of [4, 2, 0, 3, 1]) {
      const callId = await callOf(accountId, nodeId, { createdAtMs: startMs + hour * 3_600_000 });
      await joinCall(accountId, callId, nodeId);
      calls.set(hour, callId);
    }
    const inOrder = [0, 1, 2, 3, 4].map((hour) => calls.get(hour));
    const ended: string[] = [];
    const note = async (_tx: Db, { callId }: { readonly callId: string }): Promise<void> => {
      ended.push(callId);
    };
    expect(await endStrayCalls(db, { nodeId, bootId: nodeId }, [...calls.values()], note)).toBe(5);
    expect(ended.splice(0)).toEqual(inOrder);
    await silence(nodeId);
    const judge = { boot: nodeOf("judge"), trustsLeases: true };
    await markOrphans(db, judge);
    await endOrphans(db, { ...judge, resumableMs: null, lostMs: 60_000 }, async (tx, call) => {
      if (call.accountId === accountId) ended.push(call.callId);
      await markEnded(tx, call.accountId, call.callId, { endReason: "system_error", endedAtMs: Date.now() });
    });
    expect(ended).toEqual(inOrder);
  });

  it("keep their node from being forgotten", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const [empty, full] = [randomUUID(), randomUUID()];
    await Promise.all([empty, full].map(beat));
    await callOf(accountId, full);
    for (const nodeId of [empty, full]) await lapse(db, nodeId, 31 * 86_400_000);
    const recorded = await callOf(accountId, empty, { settings: { recordingEnabled: true } });
    await markEnded(db, accountId, recorded, {
      endReason: "hangup",
      endedAtMs: Date.now(),
    });
    expect(await deleteOldNodes(db)).toEqual([{ nodeId: empty, recordings: 1 }]);
    const left = await sql<{ id: string }>`select id from nodes where id in (${empty}, ${full})`.execute(
      db.query,
    );
    expect(left.rows).toEqual([{ id: full }]);
  });

  it("are also those that were killed and never started again", async ({ skip }) => {
    const { db, databaseUrl, secretsKey } = current();
    // Two processes cannot have the embedded database open.
    if (databaseUrl === null) {
      skip();
      return;
    }
    const accountId = await newAccount(db);
    const dataDir = mkdtempSync(join(tmpdir(), "parley-node-"));
    const nodeId = randomUUID();
    const key = Buffer.from(secretsKey).toString("base64");
    const child = startChild("./calling-node.ts", [dataDir, key, databaseUrl, accountId, nodeId]);
    const callId = (await child.line()) ?? "";
    const judge = { boot: nodeOf("judge"), trustsLeases: true };
    // It is alive, and so is its call.
    await markOrphans(db, judge);
    const due: string[] = [];
    await endOrphans(
      db,
      { ...judge, resumableMs: 0, lostMs: 0 },
      async (_tx, call) => void due.push(call.callId),
    );
    expect(due).not.toContain(callId);
    await sweep(randomUUID());
    await child.kill();
    await silence(nodeId);
    await vi.waitFor(async () => {
      expect((await getCall(db, accountId, callId))?.endReason).toBe("system_error");
    }, LIMIT);
    await closeAll();
    rmSync(dataDir, { recursive: true, force: true });
  });
});
