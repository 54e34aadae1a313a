import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { getCall, insertCall, markJoined, type NewCall } from "../calls/calls.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { announceNode } from "./announcements.ts";
import { claimCall, endMissedCalls } from "./call-claims.ts";
import { claimNode, type NodeBoot } from "./node-claims.ts";
import { listNotOwned } from "../snapshots/orphans.ts";
import { listStrayCalls } from "./nodes.ts";

const LEASE_MS = 3_600_000;
const END = { endReason: "unjoined" } as const;

describeOnBothDatabases("claims of calls", (current) => {
  const open = async (): Promise<NodeBoot> => {
    const node = { nodeId: randomUUID(), bootId: randomUUID() };
    const { db } = current();
    await claimNode(db, node, { endedBootIds: [], lock: "exclusive" });
    const announcement = { address: null, version: "1", isDraining: false, liveCalls: 0, leaseMs: LEASE_MS };
    await announceNode(db, node, announcement);
    return node;
  };
  const lapse = async ({ nodeId }: NodeBoot): Promise<void> => {
    await sql`update nodes set lease_until = clock_timestamp() where id = ${nodeId}`.execute(
      current().db.query,
    );
  };
  const make = async ({ nodeId }: NodeBoot, changes: Partial<NewCall> = {}) => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall({ nodeId, joinDeadlineMs: Date.now() + 3_600_000, ...changes });
    await insertCall(db, accountId, call);
    return { accountId, callId: call.callId };
  };
  const missed = async (node: NodeBoot, callIds: readonly string[] = []): Promise<string[]> => {
    const { db } = current();
    const ended: string[] = [];
    await endMissedCalls(db, { nodeId: node.nodeId, callIds }, async (tx, call) => {
      await markEnded(tx, call.accountId, call.callId, { ...END, endedAtMs: call.joinDeadlineMs });
      ended.push(call.callId);
    });
    return ended;
  };
  const PASSED = { createdAtMs: Date.now() - 60_000, joinDeadlineMs: Date.now() - 30_000 };

  it("fail after the join deadline, and for a process that is not its node any more", async () => {
    const { db } = current();
    const [a, b] = [await open(), await open()];
    expect(await claimCall(db, b, (await make(a, PASSED)).callId)).toBe(false);
    const { callId } = await make(a);
    expect(await claimCall(db, { ...b, bootId: "another" }, callId)).toBe(false);
    expect(await claimCall(db, b, callId)).toBe(true);
    expect(await listNotOwned(db, a, [callId])).toEqual([callId]);
    expect(await listNotOwned(db, b, [callId])).toEqual([]);
  });

  it("keep the join and the end of another node from being written, while the claimant runs", async () => {
    const { db } = current();
    const [a, b] = [await open(), await open()];
    const { accountId, callId } = await make(a);
    await claimCall(db, b, callId);
    const join = { joinedAtMs: Date.now(), clientVersion: null };
    expect(await markEnded(db, accountId, callId, { ...END, endedAtMs: Date.now(), by: a })).toBe(false);
    expect(await markJoined(db, accountId, callId, { ...join, by: a })).toBe(false);
    expect(await getCall(db, accountId, callId)).toMatchObject({ joinedAt: null, endedAt: null });
    expect(await markJoined(db, accountId, callId, { ...join, by: b })).toBe(true);
    const hangUp = { endReason: "hangup", endedAtMs: Date.now() } as const;
    expect(await markEnded(db, accountId, callId, { ...hangUp, by: a })).toBe(false);
    // The journal of a node that has a new name writes the ends of its calls.
    await lapse(b);
    expect(await markEnded(db, accountId, callId, { ...hangUp, by: a })).toBe(true);
  });

  it("do not prevent the join timeout of calls that no process watches", async () => {
    const { db } = current();
    const [a, b] = [await open(), await open()];
    const [waiting, early] = [await make(a, PASSED), await make(a)];
    // Its node watches it.
    expect(await missed(b)).toEqual([]);
    expect(await missed(a, [waiting.callId])).toEqual([]);
    await lapse(a);
    expect(await missed(b)).toEqual([waiting.callId]);
    expect(await getCall(db, waiting.accountId, waiting.callId)).toMatchObject({ endReason: "unjoined" });
    expect(await missed(b)).toEqual([]);
    expect(await getCall(db, early.accountId, early.callId)).toMatchObject({ endedAt: null });
  });

  it("of a process that does not run the call leave its timeout to that process", async () => {
    const a = await open();
    const { callId } = await make(a, PASSED);
    expect(await missed(a, [])).toEqual([callId]);
  });

  it("end each missed call once, also when many look at once", async () => {
    const [a, b] = [await open(), await open()];
    const made = await Promise.all(Array.from({ length: 5 }, () => make(a, PASSED)));
    await lapse(a);
    const ended = (await Promise.all([missed(b), missed(b), missed(b)])).flat();
    expect(ended.toSorted()).toEqual(made.map(({ callId }) => callId).toSorted());
  });

  it("make strays of joined calls only, and of those that this process owns", async () => {
    const { db } = current();
    const [a, b] = [await open(), await open()];
    await make(a, PASSED);
    const [own, foreign] = [await make(a), await make(a)];
    const join = { joinedAtMs: Date.now(), clientVersion: null };
    await markJoined(db, own.accountId, own.callId, { ...join, by: a });
    await claimCall(db, b, foreign.callId);
    await markJoined(db, foreign.accountId, foreign.callId, { ...join, by: b });
    expect(await listStrayCalls(db, { node: a, exceptIds: [] })).toEqual([own.callId]);
    expect(await listStrayCalls(db, { node: a, exceptIds: [own.callId] })).toEqual([]);
  });
});
