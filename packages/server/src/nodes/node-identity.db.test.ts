import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { takeNode } from "./node-identity.ts";
import type { Db } from "../store/database/db.ts";
import { BOOT_SILENT_AFTER_MS, claimNode, holdsNode, releaseNode } from "../store/nodes/node-claims.ts";
import { openNodeLock, type NodeLock } from "../store/nodes/node-lock.ts";
import { renewLease } from "../store/nodes/announcements.ts";
import { describeOnBothDatabases } from "../store/testing/databases.ts";
import { ANNOUNCEMENT, lapse } from "../store/testing/leases.ts";

const quiet = { warn: () => undefined };

function lockThatIs(isFree: boolean): NodeLock {
  return { take: () => Promise.resolve(isFree), close: () => Promise.resolve() };
}

interface Start {
  readonly nodeId: string;
  readonly endedBootIds?: readonly string[];
  readonly lock?: NodeLock | null;
}

/** Starts a process; a new node is named `new …`. */
async function start(db: Db, { nodeId, endedBootIds = [], lock = lockThatIs(false) }: Start) {
  const boot = { bootId: randomUUID(), endedBootIds };
  return takeNode({ db, boot, lock, newId: () => `new ${randomUUID()}`, logger: quiet }, nodeId);
}

describeOnBothDatabases("the node of a process", (current) => {
  it("is the one that DATA_DIR names, unless another process runs as it", async () => {
    const { db } = current();
    const nodeId = randomUUID();
    const original = await start(db, { nodeId });
    expect(original.nodeId).toBe(nodeId);
    const copy = await start(db, { nodeId });
    expect(copy.nodeId).toMatch(/^new /);
    expect([await holdsNode(db, original), await holdsNode(db, copy)]).toEqual([true, true]);
    expect((await renewLease(db, original, ANNOUNCEMENT)).kind).toBe("renewed");
  });

  it("is taken over at once after an orderly stop", async () => {
    const { db } = current();
    const nodeId = randomUUID();
    await releaseNode(db, await start(db, { nodeId }));
    expect((await start(db, { nodeId })).nodeId).toBe(nodeId);
  });

  it("is taken over at once where the lock of DATA_DIR shows that the boot has ended", async () => {
    const { db } = current();
    const nodeId = randomUUID();
    const killed = await start(db, { nodeId });
    const next = await start(db, { nodeId, endedBootIds: [randomUUID(), killed.bootId] });
    expect(next.nodeId).toBe(nodeId);
    // Of the copy of a folder, another boot has ended.
    expect((await start(db, { nodeId, endedBootIds: [killed.bootId] })).nodeId).toMatch(/^new /);
    expect((await renewLease(db, killed, ANNOUNCEMENT)).kind).toBe("taken");
  });

  it("is taken over without a proof when its lease has lapsed for long", async () => {
    const { db } = current();
    const nodeId = randomUUID();
    await start(db, { nodeId });
    await lapse(db, nodeId, BOOT_SILENT_AFTER_MS - 10_000);
    expect((await start(db, { nodeId })).nodeId).toMatch(/^new /);
    await lapse(db, nodeId, BOOT_SILENT_AFTER_MS + 1_000);
    expect((await start(db, { nodeId })).nodeId).toBe(nodeId);
  });

  it("is always that of DATA_DIR where the database belongs to one process", async () => {
    const { db } = current();
    const nodeId = randomUUID();
    await start(db, { nodeId, lock: null });
    expect((await start(db, { nodeId, lock: null })).nodeId).toBe(nodeId);
  });

  it("is taken by one of several that start at once", async () => {
    const { db } = current();
    const nodeId = randomUUID();
    const starts = await Promise.all(Array.from({ length: 4 }, () => start(db, { nodeId })));
    expect(starts.filter((one) => one.nodeId === nodeId)).toHaveLength(1);
    expect(new Set(starts.map((one) => one.nodeId)).size).toBe(4);
  });

  it("has a lock that one connection holds until it closes", async ({ skip }) => {
    const { store, databaseUrl, db } = current();
    if (databaseUrl === null) {
      skip();
      return;
    }
    const nodeId = randomUUID();
    const [first, second] = [openNodeLock(store.openConnection), openNodeLock(store.openConnection)];
    try {
      expect(await first.take(nodeId)).toBe(true);
      expect(await second.take(nodeId)).toBe(false);
      expect(await second.take(randomUUID())).toBe(true);
      const idle = await sql<{ xid: string | null; xmin: string | null }>`
        select backend_xid::text as xid, backend_xmin::text as xmin from pg_stat_activity
        where state = 'idle in transaction' and datname = current_database()`.execute(db.query);
      expect(idle.rows).toEqual([
        { xid: null, xmin: null },
        { xid: null, xmin: null },
      ]);
      await first.close();
      expect(await second.take(nodeId)).toBe(true);
    } finally {
      await Promise.all([first.close(), second.close()]);
    }
  });

  it("counts a free lock once the server has run for a minute", async () => {
    const { db } = current();
    const nodeId = randomUUID();
    const [before, next] = [randomUUID(), randomUUID()];
    await claimNode(db, { nodeId, bootId: before }, { endedBootIds: [], lock: "free" });
    const up = await sql<{ isUp: boolean }>`
      select pg_postmaster_start_time() < clock_timestamp() - interval '1 minute' as "isUp"`.execute(
      db.query,
    );
    const claimed = await claimNode(db, { nodeId, bootId: next }, { endedBootIds: [], lock: "free" });
    expect(claimed).toBe(up.rows[0]?.isUp);
  });
});
