import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { openFileRemoval, type FileRemoval } from "./file-removal.ts";
import { insertCall } from "../store/calls/calls.ts";
import { fixedTime, type SqlTime } from "../store/database/database-time.ts";
import type { Db } from "../store/database/db.ts";
import { deleteCall } from "../store/calls/deleted-calls.ts";
import { getFilesToRemove, giveUpFilesOfGoneNodes } from "../store/calls/files-to-remove.ts";
import { markEnded, newCall } from "../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";
import { lapse, startNode } from "../store/testing/leases.ts";

const minuteMs = 60_000;

describeOnBothDatabases("files of deleted calls", (current) => {
  async function deletedCall(db: Db, nodeId: string): Promise<string> {
    const accountId = await newAccount(db);
    const call = newCall({ nodeId, settings: { recordingEnabled: true } });
    await insertCall(db, accountId, call);
    const end = { endReason: "hangup", endedAtMs: Date.now() } as const;
    await markEnded(db, accountId, call.callId, end);
    expect(await deleteCall(db, accountId, call.callId)).toBe("deleted");
    return call.callId;
  }

  function removal(db: Db, nodeId: string) {
    const state = {
      broken: false,
      silent: false,
      nowMs: Date.now() + 1_000,
      requested: [] as string[],
      removed: [] as string[],
    };
    const files: FileRemoval = openFileRemoval({
      db,
      nodeId,
      recordings: {
        isShared: false,
        remove: (callId, signal) => {
          state.requested.push(callId);
          if (state.silent) {
            return new Promise((_, reject) => {
              signal?.addEventListener("abort", () => reject(new Error("stopped")));
            });
          }
          if (state.broken) return Promise.reject(new Error("EIO"));
          state.removed.push(callId);
          return Promise.resolve();
        },
      },
      logger: { warn: () => undefined },
      nowMs: () => state.nowMs,
      time: () => fixedTime(state.nowMs),
      waitLimitMs: 100,
    });
    return { state, files };
  }

  it("go right after the deletion, once", async () => {
    const { db } = current();
    const callId = await deletedCall(db, "a");
    const { state, files } = removal(db, "a");
    await files.removeNow(callId);
    await files.removeNow(callId);
    await files.sweep();
    expect(state.removed).toEqual([callId]);
    expect(await getFilesToRemove(db, { nodeId: "a", reachesShared: false }, callId)).toBeNull();
  });

  it("are found by a sweep where a crash came between", async () => {
    const { db } = current();
    const ids = [await deletedCall(db, "b"), await deletedCall(db, "b")];
    const { state, files } = removal(db, "b");
    await files.sweep();
    expect(state.removed.toSorted()).toEqual(ids.toSorted());
  });

  it("are left to the node that has them", async () => {
    const { db } = current();
    const callId = await deletedCall(db, "c");
    const other = removal(db, "d");
    await other.files.removeNow(callId);
    await other.files.sweep();
    expect(other.state.removed).toEqual([]);
    expect(await getFilesToRemove(db, { nodeId: "c", reachesShared: false }, callId)).toEqual({
      callId,
      failures: 0,
    });
  });

  it("are tried again after a failure, less and less often", async () => {
    const { db } = current();
    const callId = await deletedCall(db, "e");
    const { state, files } = removal(db, "e");
    state.broken = true;
    await files.removeNow(callId);
    for (const [failures, waitMs] of [
      [1, minuteMs],
      [2, 2 * minuteMs],
      [3, 4 * minuteMs],
    ] as const) {
      state.nowMs += waitMs - 1;
      await files.sweep();
      expect(await getFilesToRemove(db, { nodeId: "e", reachesShared: false }, callId)).toEqual({
        callId,
        failures,
      });
      state.nowMs += 1;
      await files.sweep();
      expect(await getFilesToRemove(db, { nodeId: "e", reachesShared: false }, callId)).toEqual({
        callId,
        failures: failures + 1,
      });
    }
    state.broken = false;
    state.nowMs += 60 * minuteMs;
    await files.sweep();
    expect([
      state.removed,
      await getFilesToRemove(db, { nodeId: "e", reachesShared: false }, callId),
    ]).toEqual([[callId], null]);
  });

  it("hold up no deletion where the store says nothing, and no stop", async () => {
    const { db } = current();
    const [first, second] = [await deletedCall(db, "g"), await deletedCall(db, "g")];
    const { state, files } = removal(db, "g");
    state.silent = true;
    await files.removeNow(first);
    // The store is known to have failed, so nothing waits for it now.
    await files.removeNow(second);
    expect(state.requested).toEqual([first]);
    const sweeping = files.sweep();
    await expect.poll(() => state.requested.length).toBe(2);
    await files.close();
    await sweeping;
    // Neither is done, and neither counts as a failure.
    expect(state.requested).toHaveLength(2);
    const left = [first, second].map((id) => getFilesToRemove(db, { nodeId: "g", reachesShared: false }, id));
    expect(await Promise.all(left)).toMatchObject([{ failures: 0 }, { failures: 0 }]);
    const { state: again, files: next } = removal(db, "g");
    await next.sweep();
    expect(again.removed.toSorted()).toEqual([first, second].toSorted());
  });

  it("are asked for again some time after a failure", async () => {
    const { db } = current();
    const [first, second] = [await deletedCall(db, "h"), await deletedCall(db, "h")];
    const { state, files } = removal(db, "h");
    state.broken = true;
    await files.removeNow(first);
    state.broken = false;
    state.nowMs += minuteMs;
    await files.removeNow(second);
    expect(state.removed).toEqual([second]);
  });

  it("are given up 30 days after their node was last seen, unless every node reaches them", async () => {
    const { db } = current();
    const dayMs = 86_400_000;
    const [gone, alive, shared] = [
      await deletedCall(db, "gone"),
      await deletedCall(db, "alive"),
      await deletedCall(db, "gone"),
    ];
    await startNode(db, { nodeId: "gone", bootId: "boot" });
    await sql`update files_to_remove set is_shared = true where call_id = ${shared}`.execute(db.query);
    const after = (days: number): SqlTime => fixedTime(Date.now() + days * dayMs);
    const left = async (): Promise<string[]> => {
      const rows = await sql<{ id: string }>`
        select call_id as id from files_to_remove where call_id = any(${[gone, alive, shared]}::uuid[])`.execute(
        db.query,
      );
      return rows.rows.map(({ id }) => id).toSorted();
    };
    await giveUpFilesOfGoneNodes(db, after(29));
    expect(await left()).toEqual([gone, alive, shared].toSorted());
    await startNode(db, { nodeId: "alive", bootId: "boot" });
    await lapse(db, "alive", -20 * dayMs);
    await giveUpFilesOfGoneNodes(db, after(31));
    expect(await left()).toEqual([alive, shared].toSorted());
  });

  it("go from the disk also where no queue has them any more", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const deleted = await deletedCall(db, "a former name of this node");
    const present = newCall({ settings: { recordingEnabled: true } });
    await insertCall(db, accountId, present);
    const removed: string[] = [];
    const files = openFileRemoval({
      db,
      nodeId: "i",
      recordings: {
        isShared: false,
        remove: (callId) => {
          removed.push(callId);
          return Promise.resolve();
        },
      },
      listRecordings: () => Promise.resolve([present.callId, deleted, "no id", randomUUID()]),
      logger: { warn: () => undefined },
      nowMs: Date.now,
    });
    await files.removeLeft();
    expect(removed).toEqual([deleted]);
  });

  it("are left to the sweep when the database cannot be asked", async () => {
    const { db } = current();
    const { files } = removal(db, "f");
    await expect(files.removeNow("no id")).resolves.toBeUndefined();
  });
});
