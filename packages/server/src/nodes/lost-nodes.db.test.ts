import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, it, vi } from "vitest";
import type { EndCall } from "../lifecycle/end/ending.ts";
import { watchNodes, type NodeWatch, type WatchTimes } from "./lost-nodes.ts";
import { createAccount, setAccountLimits } from "../store/accounts/accounts.ts";
import { insertAdmittedCall } from "../store/accounts/admission.ts";
import { listCallEvents } from "../store/calls/call-events.ts";
import { getCall, insertCall, markJoined, type NewCall } from "../store/calls/calls.ts";
import type { Db } from "../store/database/db.ts";
import { claimNode } from "../store/nodes/node-claims.ts";
import { deleteOldNodes, endStrayCalls, recordHeartbeat, sweepLostNode } from "../store/nodes/nodes.ts";
import { CallNotAdmittedError } from "../store/database/store-errors.ts";
import { markEnded, newCall } from "../store/testing/calls.ts";
import { saveSnapshot } from "../store/snapshots/call-snapshots.ts";
import { startChild } from "../store/testing/child.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";

const QUICK = { beatMs: 20, beforeSweepsMs: 60, straysMs: 3_600_000 };
const LIMIT = { timeout: 30_000, interval: 20 };
const FREE = { throttleId: null, accountRates: [] };
const allEvents = { minimumSeverity: "debug", type: null } as const;
const firstPage = { after: null, direction: "forward", limit: 10 } as const;

/** The boots of these tests have the names of their nodes. */
async function beat(db: Db, nodeId: string): Promise<number | null> {
  return recordHeartbeat(db, { nodeId, bootId: nodeId });
}

/** Sets its last heartbeat back by two minutes. */
async function silence(db: Db, nodeId: string): Promise<void> {
  await sql`update nodes set seen_at = clock_timestamp() - interval '2 minutes' where id = ${nodeId}`.execute(
    db.query,
  );
}

describeOnBothDatabases("lost nodes", (current) => {
  const opened: NodeWatch[] = [];
  /** Nodes that another process has taken. */
  const taken: string[] = [];
  const inJournal: string[] = [];
  const watch = async (
    nodeId: string,
    calls: readonly string[] = [],
    { resumeTimeoutMs = 30_000, ...times }: Partial<WatchTimes> & { readonly resumeTimeoutMs?: number } = {},
  ): Promise<{ watch: NodeWatch; ended: string[] }> => {
    const ended: string[] = [];
    const endCall = (callId: string): boolean => ended.push(callId) > 0;
    const liveCalls = { callIds: () => calls, endCall, abandon: () => undefined };
    const journaled = (): readonly string[] => inJournal;
    const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const { db } = current();
    const endOnRecord: EndCall = (accountId, callId, end, tx = db) => markEnded(tx, accountId, callId, end);
    await claimNode(db, { nodeId, bootId: nodeId }, { endedBootIds: [], lock: "exclusive" });
    const node = { nodeId, bootId: nodeId };
    const onTaken = (): void => void taken.push(nodeId);
    const deps = { db, node, liveCalls, journaled, endCall: endOnRecord, resumeTimeoutMs, logger, onTaken };
    const started = await watchNodes(deps, { ...QUICK, ...times });
    opened.push(started);
    started.start();
    return { watch: started, ended };
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
  const joinCall = (accountId: string, callId: string): Promise<boolean> =>
    markJoined(current().db, accountId, callId, { joinedAtMs: Date.now() - 300_000, clientVersion: null });

  it("a call whose process is gone ends once, with connection_error, when its client stays away", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const nodeId = "restarted";
    await claimNode(db, { nodeId, bootId: "before" }, { endedBootIds: [], lock: "exclusive" });
    const callId = await callOf(accountId, nodeId);
    await joinCall(accountId, callId);
    const snapshot = { accountId, callId, version: 1, document: "{}" };
    expect(await saveSnapshot(db, { nodeId, bootId: "before" }, snapshot)).toBe("saved");
    // The next process of the same node: that of before is certainly gone.
    await watch(nodeId, [], { resumeTimeoutMs: 0 });
    await vi.waitFor(async () => {
      expect(await getCall(db, accountId, callId)).toMatchObject({ endReason: "connection_error" });
    }, LIMIT);
    const events = await listCallEvents(db, accountId, callId, allEvents, firstPage);
    expect(events.rows.map(({ type }) => type)).toEqual(["call.ended"]);
    await closeAll();
  });

  it("have their calls ended once, by one of all that watch, and their accounts get the places back", async () => {
    const { db } = current();
    const { accountId } = await createAccount(db, "limited");
    await setAccountLimits(db, accountId, { allowedConcurrentCalls: 3 });
    const nodeId = randomUUID();
    await beat(db, nodeId);
    const joined = await callOf(accountId, nodeId);
    await joinCall(accountId, joined);
    const missed = await callOf(accountId, nodeId, { joinDeadlineMs: Date.now() - 1_000 });
    const waiting = await callOf(accountId, nodeId, { joinDeadlineMs: Date.now() + 600_000 });
    const another = newCall({ nodeId: "elsewhere" });
    await expect(insertAdmittedCall(db, accountId, another, FREE)).rejects.toThrow(CallNotAdmittedError);
    await silence(db, nodeId);
    await Promise.all(["a", "b", "c"].map((name) => watch(`${name} ${randomUUID()}`)));
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
    const lost = sql<{ times: number }>`select times_lost as times from nodes where id = ${nodeId}`;
    expect((await lost.execute(db.query)).rows).toEqual([{ times: 1 }]);
    await insertAdmittedCall(db, accountId, another, FREE);
    const counted = sql<{ errors: number; calls: number }>`
      select sum(errors)::int as errors, sum(calls)::int as calls from usage_hours where account_id = ${accountId}`;
    expect((await counted.execute(db.query)).rows).toEqual([{ errors: 1, calls: 2 }]);
  });

  it("are only those that have been silent for long, and that watchers had time to hear", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const [alive, unknown] = [randomUUID(), randomUUID()];
    await beat(db, alive);
    const calls = await Promise.all([alive, unknown].map((nodeId) => callOf(accountId, nodeId)));
    await Promise.all(calls.map((callId) => joinCall(accountId, callId)));
    // A node of an earlier version sends no heartbeat.
    expect(await sweepLostNode(db, () => Promise.reject(new Error("ended")))).toBeNull();
    await silence(db, alive);
    await beat(db, alive);
    expect(await sweepLostNode(db, () => Promise.reject(new Error("ended")))).toBeNull();
    for (const callId of calls) expect((await getCall(db, accountId, callId))?.endedAt).toBeNull();
  });

  it("that come back let go of what was ended, and of nothing else", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const nodeId = randomUUID();
    await beat(db, nodeId);
    const [lost, kept] = [await callOf(accountId, nodeId), await callOf(accountId, nodeId)];
    await joinCall(accountId, lost);
    const slow = await watch(nodeId, [lost, kept]);
    await slow.watch.close();
    await silence(db, nodeId);
    await watch(randomUUID());
    await vi.waitFor(async () => {
      expect((await getCall(db, accountId, lost))?.endReason).toBe("system_error");
    }, LIMIT);
    await closeAll();
    const before = await watch(nodeId, [lost, kept]);
    await vi.waitFor(async () => {
      const seen = await sql<{ is: boolean }>`
        select seen_at > clock_timestamp() - interval '1 minute' as is from nodes where id = ${nodeId}`.execute(
        db.query,
      );
      expect(seen.rows).toEqual([{ is: true }]);
    }, LIMIT);
    // It knew of the loss from the start: the calls that it has now began after that.
    expect(before.ended).toEqual([]);
    await sql`update nodes set times_lost = times_lost + 1 where id = ${nodeId}`.execute(db.query);
    await vi.waitFor(() => expect(before.ended).toEqual([lost]), LIMIT);
    await closeAll();
  });

  it("end calls that are open as theirs and that they do not run, and no others", async () => {
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
    await joinCall(accountId, joined);
    inJournal.push(journaled);
    // Before a shutdown calls are left to the next start.
    const stopping = randomUUID();
    const left = await callOf(accountId, stopping, later);
    (await watch(stopping, [], { straysMs: 60 })).watch.leaveCalls();
    const one = await watch(nodeId, [live], { straysMs: 60 });
    await vi.waitFor(async () => {
      expect((await getCall(db, accountId, joined))?.endReason).toBe("system_error");
      expect((await getCall(db, accountId, stray))?.endReason).toBe("unjoined");
    }, LIMIT);
    await closeAll();
    for (const callId of [live, journaled, waiting, foreign, left]) {
      expect((await getCall(db, accountId, callId))?.endedAt).toBeNull();
    }
    expect(one.ended).toEqual([]);
  });

  it("never end calls after another process has taken their node", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const nodeId = randomUUID();
    const callId = await callOf(accountId, nodeId);
    await claimNode(db, { nodeId, bootId: "next" }, { endedBootIds: [], lock: "exclusive" });
    const end = (): Promise<void> => Promise.reject(new Error("ended"));
    expect(await endStrayCalls(db, { nodeId, bootId: "before" }, [callId], end)).toBe(0);
    await expect(endStrayCalls(db, { nodeId, bootId: "next" }, [callId], end)).rejects.toThrow("ended");
  });

  it("end when another process has taken their node, and leave its calls and its heartbeat alone", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const nodeId = randomUUID();
    const callId = await callOf(accountId, nodeId);
    const old = await watch(nodeId, [callId]);
    expect(await old.watch.holds()).toBe(true);
    const next = { nodeId, bootId: "next" };
    const unproven = { endedBootIds: ["before"], lock: "held" } as const;
    expect(await claimNode(db, next, unproven)).toBe(false);
    expect(await claimNode(db, next, { ...unproven, endedBootIds: [nodeId] })).toBe(true);
    expect(await old.watch.holds()).toBe(false);
    await vi.waitFor(() => expect(taken).toContain(nodeId), LIMIT);
    await closeAll();
    expect(old.ended).toEqual([]);
    expect((await getCall(db, accountId, callId))?.endedAt).toBeNull();
    const row = sql<{ boot: string }>`select boot_id as boot from nodes where id = ${nodeId}`;
    expect((await row.execute(db.query)).rows).toEqual([{ boot: "next" }]);
  });

  it("have their calls ended in the order of the hours that usage is counted in", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const nodeId = randomUUID();
    await claimNode(db, { nodeId, bootId: nodeId }, { endedBootIds: [], lock: "exclusive" });
    const startMs = Date.parse("2021-03-04T05:00:00.000Z");
    const calls = new Map<number, string>();
    for (const hour of [4, 2, 0, 3, 1]) {
      const callId = await callOf(accountId, nodeId, { createdAtMs: startMs + hour * 3_600_000 });
      await joinCall(accountId, callId);
      calls.set(hour, callId);
    }
    const inOrder = [0, 1, 2, 3, 4].map((hour) => calls.get(hour));
    const ended: string[] = [];
    const note = async (_tx: Db, { callId }: { readonly callId: string }): Promise<void> => {
      ended.push(callId);
    };
    expect(await endStrayCalls(db, { nodeId, bootId: nodeId }, [...calls.values()], note)).toBe(5);
    expect(ended.splice(0)).toEqual(inOrder);
    await silence(db, nodeId);
    const swept = await sweepLostNode(db, async (tx, { callId }) => {
      ended.push(callId);
      await markEnded(tx, accountId, callId, { endReason: "system_error", endedAtMs: Date.now() });
    });
    expect([swept, ended]).toEqual([{ nodeId, calls: 5 }, inOrder]);
  });

  it("are forgotten when nothing is left of them", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const [empty, full] = [randomUUID(), randomUUID()];
    await Promise.all([empty, full].map((nodeId) => beat(db, nodeId)));
    await callOf(accountId, full);
    await sql`update nodes set seen_at = seen_at - interval '31 days' where id in (${empty}, ${full})`.execute(
      db.query,
    );
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
    await watch(randomUUID());
    // It is alive, and so is its call.
    expect(await sweepLostNode(db, () => Promise.reject(new Error("ended")))).toBeNull();
    await child.kill();
    await silence(db, nodeId);
    await vi.waitFor(async () => {
      expect((await getCall(db, accountId, callId))?.endReason).toBe("system_error");
    }, LIMIT);
    await closeAll();
    rmSync(dataDir, { recursive: true, force: true });
  });
});
