import { sql } from "kysely";
import { expect, test } from "vitest";
import { insertCall, markJoined } from "../calls/calls.ts";
import type { Db } from "../database/db.ts";
import { announceNode } from "../nodes/announcements.ts";
import { readOwnership } from "../nodes/call-claims.ts";
import { claimNode } from "../nodes/node-claims.ts";
import { NODE_LEASE_MS } from "../nodes/nodes.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { isTaken, saveSnapshot, SNAPSHOT_MAX_CHARS } from "./call-snapshots.ts";
import {
  claimOrphan,
  endOrphans,
  giveBackOrphan,
  keepOwnCalls,
  listTaken,
  markOrphans,
  readHeldCall,
} from "./orphans.ts";

const DEAD = { nodeId: "node-dead", bootId: "boot-dead" };
const ONE = { nodeId: "node-one", bootId: "boot-one" };
const TWO = { nodeId: "node-two", bootId: "boot-two" };

describeOnBothDatabases("calls whose process is gone", (current) => {
  const start = (db: Db, boot: typeof ONE): Promise<boolean> =>
    claimNode(db, boot, { endedBootIds: [], lock: "exclusive" });
  /** Its last heartbeat was longer ago than a lease lasts. */
  const silence = (db: Db, nodeId: string) =>
    sql`update nodes set seen_at = clock_timestamp() - make_interval(secs => ${NODE_LEASE_MS / 1000 + 1})
      where id = ${nodeId}`.execute(db.query);

  /** However slow the machine is, its lease does not lapse. */
  const keepAlive = (db: Db, nodeId: string) =>
    sql`update nodes set seen_at = clock_timestamp() + interval '1 hour' where id = ${nodeId}`.execute(
      db.query,
    );

  async function joinedCall(db: Db, boot = DEAD, document = '{"state":1}') {
    const accountId = await newAccount(db);
    const call = newCall({ nodeId: boot.nodeId });
    const { callId } = call;
    await insertCall(db, accountId, call);
    await markJoined(db, accountId, callId, { joinedAtMs: Date.now(), clientVersion: null });
    const save = (as = boot, text = document) =>
      saveSnapshot(db, as, { accountId, callId, version: 1, document: text });
    expect(await save()).toBe("saved");
    return { accountId, callId, save };
  }

  test("a call of a living process is claimed by nobody, and one of a silent process by those who may judge it", async () => {
    const { db } = current();
    for (const boot of [DEAD, ONE]) {
      await start(db, boot);
      await keepAlive(db, boot.nodeId);
    }
    const { callId } = await joinedCall(db);
    const from = { callId, owner: DEAD };
    expect(await claimOrphan(db, ONE, { ...from, trustsLeases: true })).toBeNull();
    expect(await readHeldCall(db, callId, true)).toMatchObject({
      isGone: false,
      owner: DEAD,
      hasState: true,
    });
    await silence(db, DEAD.nodeId);
    expect(await claimOrphan(db, ONE, { ...from, trustsLeases: false })).toBeNull();
    expect(await claimOrphan(db, ONE, { ...from, trustsLeases: true })).toMatchObject({
      document: '{"state":1}',
    });
    expect(await readHeldCall(db, callId, true)).toMatchObject({ owner: ONE, isGone: false });
  });

  test("a restart of the node is known at once; of two that claim, one wins; the old process writes no more", async () => {
    const { db } = current();
    await start(db, ONE);
    await start(db, TWO);
    await start(db, DEAD);
    const { callId, save } = await joinedCall(db);
    const next = { ...DEAD, bootId: "boot-next" };
    await start(db, next);
    // The next boot writes what the journal of the one before holds.
    expect(await isTaken(db, next, callId)).toBe(false);
    const from = { callId, owner: DEAD, trustsLeases: false };
    const claims = await Promise.all([claimOrphan(db, ONE, from), claimOrphan(db, TWO, from)]);
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
    expect(await save()).toBe("taken");
    expect(await isTaken(db, DEAD, callId)).toBe(true);
    expect(await listTaken(db, DEAD, [callId])).toEqual([callId]);
  });

  test("a call that is given back can be claimed again, and keeps its time", async () => {
    const { db } = current();
    await start(db, ONE);
    await start(db, DEAD);
    const { callId } = await joinedCall(db);
    await start(db, { ...DEAD, bootId: "boot-after" });
    await markOrphans(db, false);
    const claimed = await claimOrphan(db, ONE, { callId, owner: DEAD, trustsLeases: false });
    const announcement = { address: null, version: "1", isDraining: false, liveCalls: 0, leaseMs: 3_600_000 };
    await announceNode(db, ONE, announcement);
    expect((await readOwnership(db, callId)).owner).toMatchObject(ONE);
    await giveBackOrphan(db, ONE, callId, claimed?.orphanedAtMs ?? null);
    // Another node that is asked for it takes it, and does not look for it at this one.
    expect(await readOwnership(db, callId)).toEqual({ state: "joined", owner: null });
    const held = await readHeldCall(db, callId, false);
    expect(held?.isGone).toBe(true);
    const again = await claimOrphan(db, ONE, { callId, owner: held?.owner ?? DEAD, trustsLeases: false });
    expect(again?.orphanedAtMs).toBe(claimed?.orphanedAtMs);
  });

  test("a call whose snapshot cannot be opened is not taken", async () => {
    const { db } = current();
    await start(db, ONE);
    await start(db, DEAD);
    const { callId } = await joinedCall(db);
    await start(db, { ...DEAD, bootId: "boot-later" });
    await sql`update call_snapshots set sealed_state = 'damaged' where call_id = ${callId}`.execute(db.query);
    await expect(claimOrphan(db, ONE, { callId, owner: DEAD, trustsLeases: false })).rejects.toThrow(
      "unknown form",
    );
    expect(await readHeldCall(db, callId, false)).toMatchObject({ owner: DEAD, isGone: true });
  });

  test("a call that nobody comes back to ends once, and one whose process was only slow does not", async () => {
    const { db } = current();
    await start(db, ONE);
    await start(db, DEAD);
    const { callId } = await joinedCall(db);
    const ended: string[] = [];
    // Calls of other tests may end as well.
    const endAll = async (timeoutMs: number): Promise<number> => {
      await endOrphans(db, timeoutMs, async (tx, call) => {
        ended.push(call.callId);
        const end = { endReason: "connection_error", endedAtMs: Date.now() } as const;
        await markEnded(tx, call.accountId, call.callId, end);
      });
      return ended.filter((id) => id === callId).length;
    };
    await silence(db, DEAD.nodeId);
    expect(await markOrphans(db, true)).toBeGreaterThanOrEqual(1);
    await keepOwnCalls(db, DEAD);
    expect(await endAll(0)).toBe(0);
    expect(await markOrphans(db, true)).toBeGreaterThanOrEqual(1);
    expect(await endAll(600_000)).toBe(0);
    expect(await endAll(0)).toBe(1);
    expect(await endAll(0)).toBe(1);
    expect(await readHeldCall(db, callId, true)).toBeNull();
  });

  test("a snapshot that was written at the same time as the end of its call is removed", async () => {
    const { db } = current();
    await start(db, DEAD);
    const { callId } = await joinedCall(db);
    await sql`update calls set ended_at = clock_timestamp(), end_reason = 'hangup' where id = ${callId}`.execute(
      db.query,
    );
    await start(db, { ...DEAD, bootId: "boot-of-later" });
    await markOrphans(db, false);
    // Its time is rounded to a millisecond, which may be the next one.
    await endOrphans(db, -1_000, () => Promise.resolve());
    const left = await sql`select 1 from call_snapshots where call_id = ${callId}`.execute(db.query);
    expect(left.rows).toHaveLength(0);
  });

  test("a snapshot that is too long leaves none, and the end of the call removes it", async () => {
    const { db } = current();
    await start(db, DEAD);
    const { accountId, callId, save } = await joinedCall(db);
    expect(await save(DEAD, "x".repeat(SNAPSHOT_MAX_CHARS + 1))).toBe("too_long");
    expect(await readHeldCall(db, callId, true)).toMatchObject({ hasState: false });
    await markEnded(db, accountId, callId, { endReason: "hangup", endedAtMs: Date.now() });
    const left = await sql`select 1 from call_snapshots where call_id = ${callId}`.execute(db.query);
    expect(left.rows).toHaveLength(0);
    expect(await save()).toBe("ended");
  });
});
