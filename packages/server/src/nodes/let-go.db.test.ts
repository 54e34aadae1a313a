import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { insertCall, markJoined } from "../store/calls/calls.ts";
import { claimCall } from "../store/nodes/call-claims.ts";
import { saveSnapshot } from "../store/snapshots/call-snapshots.ts";
import { claimOrphan, endOrphans, giveUpCall, markOrphans } from "../store/snapshots/orphans.ts";
import { markEnded, newCall } from "../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";
import { lapse, startNode } from "../store/testing/leases.ts";
import { letGo } from "./let-go.ts";

describeOnBothDatabases("a process lets go of calls", (current) => {
  const start = async () => {
    const node = { nodeId: randomUUID(), bootId: randomUUID() };
    await startNode(current().db, node);
    return node;
  };
  type Node = Awaited<ReturnType<typeof start>>;
  const waitingCall = async (node: Node) => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall({ nodeId: node.nodeId, joinDeadlineMs: Date.now() + 3_600_000 });
    await insertCall(db, accountId, call);
    return { accountId, callId: call.callId };
  };
  const joinedCall = async (node: Node, hasSnapshot = true) => {
    const { db } = current();
    const call = await waitingCall(node);
    const { accountId, callId } = call;
    await claimCall(db, node, callId);
    await markJoined(db, accountId, callId, { joinedAtMs: Date.now(), clientVersion: null, by: node });
    if (hasSnapshot) await saveSnapshot(db, node, { accountId, callId, version: 1, document: "{}" });
    return call;
  };
  /** What the process does with its calls. */
  const look = async (node: Node, calls: readonly { readonly callId: string }[]) => {
    const { db } = current();
    const callIds = calls.map(({ callId }) => callId);
    const [released, abandoned]: [string[], string[]] = [[], []];
    const joined = await Promise.all(
      callIds.map(
        async (id) =>
          (await db.query.selectFrom("calls").select("joined_at").where("id", "=", id).executeTakeFirst())
            ?.joined_at ?? null,
      ),
    );
    await letGo({
      hasLapsed: true,
      db,
      node,
      liveCalls: { callIds: () => callIds },
      release: async (callId) => joined[callIds.indexOf(callId)] === null && released.push(callId) > 0,
      abandon: (callId) => void abandoned.push(callId),
      logger: { warn: () => undefined },
    });
    return { released, abandoned };
  };
  const NOTHING = { released: [], abandoned: [] };

  it("that others have claimed, adopted or ended, and of no others", async () => {
    const { db } = current();
    const [own, other] = [await start(), await start()];
    const [kept, claimed] = [await waitingCall(own), await waitingCall(own)];
    const [adopted, ended] = [await joinedCall(own), await joinedCall(own)];
    const calls = [kept, claimed, adopted, ended];
    expect(await look(own, calls)).toEqual(NOTHING);
    await claimCall(db, other, claimed.callId);
    // The process was silent, and comes back.
    await lapse(db, own.nodeId, 60_000);
    const judge = { boot: other, trustsLeases: true };
    await markOrphans(db, judge);
    const { callId } = adopted;
    expect(await claimOrphan(db, other, { callId, owner: own, trustsLeases: true })).not.toBeNull();
    await endOrphans(db, { ...judge, resumableMs: 0, lostMs: null }, async (tx, call) => {
      const end = { endReason: "connection_error", endedAtMs: Date.now() } as const;
      await markEnded(tx, call.accountId, call.callId, end);
    });
    await lapse(db, own.nodeId, -3_600_000);
    const next = await joinedCall(own);
    const { released, abandoned } = await look(own, [...calls, next]);
    expect(released).toEqual([claimed.callId]);
    expect(abandoned.toSorted()).toEqual([adopted.callId, ended.callId].toSorted());
  });

  it("that it has given up", async () => {
    const { db } = current();
    const own = await start();
    const call = await joinedCall(own);
    expect(await giveUpCall(db, own, call.callId)).toBe(true);
    expect(await look(own, [call])).toEqual({ released: [], abandoned: [call.callId] });
  });

  it("but not of calls whose end it has stored itself, however late its lease is", async () => {
    const { db } = current();
    const own = await start();
    const call = await joinedCall(own);
    await lapse(db, own.nodeId, 10_000);
    const end = { endReason: "hangup", endedAtMs: Date.now(), by: own } as const;
    expect(await markEnded(db, call.accountId, call.callId, end)).toBe(true);
    expect(await look(own, [call])).toEqual(NOTHING);
  });
});
