import { sql } from "kysely";
import { expect, test } from "vitest";
import { insertCall, markJoined } from "../calls/calls.ts";
import type { Db } from "../database/db.ts";
import { readOwnership } from "../nodes/call-claims.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { lapse, startNode } from "../testing/leases.ts";
import { isTaken, saveSnapshot, SNAPSHOT_MAX_CHARS } from "./call-snapshots.ts";
import { claimOrphan, endOrphans, giveUpCall, listNotOwned, markOrphans, readHeldCall } from "./orphans.ts";

const DEAD = { nodeId: "node-dead", bootId: "boot-dead" };
const ONE = { nodeId: "node-one", bootId: "boot-one" };
const TWO = { nodeId: "node-two", bootId: "boot-two" };

describeOnBothDatabases("calls whose process is gone", (current) => {
  /** However slow the machine is, its lease does not lapse. */
  const start = startNode;
  const silence = (db: Db, nodeId: string) => lapse(db, nodeId, 1_000);
  const judge = (trustsLeases: boolean) => ({ boot: ONE, trustsLeases });

  const orphanedAt = async (callId: string): Promise<string | null> => {
    const rows = await current()
      .db.query.selectFrom("calls")
      .select("orphaned_at")
      .where("id", "=", callId)
      .execute();
    return rows[0]?.orphaned_at ?? null;
  };

  async function joinedCall(db: Db, boot = DEAD, document = '{"state":1}') {
    const accountId = await newAccount(db);
    const call = newCall({ nodeId: boot.nodeId });
    const { callId } = call;
    await insertCall(db, accountId, call);
    await markJoined(db, accountId, callId, { joinedAtMs: Date.now(), clientVersion: null, by: boot });
    const save = (as = boot, text = document) =>
      saveSnapshot(db, as, { accountId, callId, version: 1, document: text });
    expect(await save()).toBe("saved");
    return { accountId, callId, save };
  }

  test("a call of a living process is claimed by nobody, and one of a silent process by those who may judge it", async () => {
    const { db } = current();
    for (const boot of [DEAD, ONE]) await start(db, boot);
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
    expect(await listNotOwned(db, DEAD, [callId])).toEqual([callId]);
  });

  test("a call that is given back can be claimed again, and keeps its time", async () => {
    const { db } = current();
    await start(db, ONE);
    await start(db, DEAD);
    const { callId } = await joinedCall(db);
    await start(db, { ...DEAD, bootId: "boot-after" });
    await markOrphans(db, judge(false));
    const claimed = await claimOrphan(db, ONE, { callId, owner: DEAD, trustsLeases: false });
    expect((await readOwnership(db, callId)).owner).toMatchObject(ONE);
    expect(await giveUpCall(db, ONE, callId, claimed?.orphanedAtMs ?? null)).toBe(true);
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
      await endOrphans(db, { ...judge(true), resumableMs: timeoutMs, lostMs: null }, async (tx, call) => {
        ended.push(call.callId);
        const end = { endReason: "connection_error", endedAtMs: Date.now() } as const;
        await markEnded(tx, call.accountId, call.callId, end);
      });
      return ended.filter((id) => id === callId).length;
    };
    await silence(db, DEAD.nodeId);
    expect(await markOrphans(db, judge(true))).toBeGreaterThanOrEqual(1);
    await lapse(db, DEAD.nodeId, -3_600_000);
    expect(await endAll(0)).toBe(0);
    await markOrphans(db, judge(false));
    expect(await orphanedAt(callId)).toBeNull();
    await silence(db, DEAD.nodeId);
    expect(await markOrphans(db, judge(true))).toBeGreaterThanOrEqual(1);
    expect(await endAll(600_000)).toBe(0);
    expect(await endAll(0)).toBe(1);
    expect(await endAll(0)).toBe(1);
    expect(await readHeldCall(db, callId, true)).toBeNull();
  });

  test("a call that its process gives up is claimed at once, and not written by that process any more", async () => {
    const { db } = current();
    await start(db, ONE);
    await start(db, TWO);
    const { accountId, callId, save } = await joinedCall(db, ONE);
    expect(await giveUpCall(db, TWO, callId)).toBe(false);
    expect(await giveUpCall(db, ONE, callId)).toBe(true);
    expect(await giveUpCall(db, ONE, callId)).toBe(false);
    // The process runs on, and has no part in the call.
    expect(await save()).toBe("taken");
    const end = { endReason: "hangup", endedAtMs: Date.now(), by: ONE } as const;
    expect(await markEnded(db, accountId, callId, end)).toBe(false);
    const held = await readHeldCall(db, callId, false);
    expect(held).toMatchObject({ isGone: true, owner: { nodeId: ONE.nodeId, bootId: null } });
    const claim = { callId, owner: held?.owner ?? ONE, trustsLeases: false };
    const claims = await Promise.all([claimOrphan(db, ONE, claim), claimOrphan(db, TWO, claim)]);
    expect(claims.filter((one) => one !== null)).toHaveLength(1);
  });

  test("a call without a snapshot that can be continued is not given up", async () => {
    const { db } = current();
    await start(db, ONE);
    const { callId, save } = await joinedCall(db, ONE);
    await save(ONE, "x".repeat(SNAPSHOT_MAX_CHARS + 1));
    expect(await giveUpCall(db, ONE, callId)).toBe(false);
    expect((await readOwnership(db, callId)).owner).toMatchObject(ONE);
  });

  test("the first snapshot of a call is written by its owner alone, too", async () => {
    const { db } = current();
    await start(db, ONE);
    await start(db, TWO);
    const { accountId, callId, save } = await joinedCall(db, ONE);
    await sql`delete from call_snapshots where call_id = ${callId}`.execute(db.query);
    expect(await saveSnapshot(db, TWO, { accountId, callId, version: 1, document: "{}" })).toBe("taken");
    expect(await readHeldCall(db, callId, true)).toBeNull();
    expect(await save()).toBe("saved");
  });

  test("a call of a node that is started again has lasted until the last sign of life of its process", async () => {
    const { db } = current();
    await start(db, DEAD);
    const { callId } = await joinedCall(db);
    await lapse(db, DEAD.nodeId, 594_000);
    await start(db, { ...DEAD, bootId: "boot-ten-minutes-later" });
    const noted = Date.parse((await orphanedAt(callId)) ?? "");
    const [clock] = (
      await sql<{ ms: number }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms`.execute(
        db.query,
      )
    ).rows;
    // Ten minutes, and what this test takes.
    expect((clock?.ms ?? 0) - noted).toBeGreaterThanOrEqual(600_000);
    expect((clock?.ms ?? 0) - noted).toBeLessThan(900_000);
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
