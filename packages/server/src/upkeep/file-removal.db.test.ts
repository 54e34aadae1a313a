import { expect, it } from "vitest";
import { openFileRemoval, type FileRemoval } from "./file-removal.ts";
import { insertCall } from "../store/calls/calls.ts";
import type { Db } from "../store/database/db.ts";
import { deleteCall } from "../store/calls/deleted-calls.ts";
import { fixedTime, type SqlTime } from "../store/database/database-time.ts";
import { getFilesToRemove } from "../store/calls/files-to-remove.ts";
import { markEnded, newCall } from "../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";

const minuteMs = 60_000;

describeOnBothDatabases("files of deleted calls", (current) => {
  async function deletedCall(db: Db, nodeId: string): Promise<string> {
    const accountId = await newAccount(db);
    const call = newCall({ nodeId, settings: { recordingEnabled: true } });
    await insertCall(db, accountId, call);
    const end = { endReason: "hangup", endedAtMs: Date.now(), latestInputTokens: null } as const;
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
      waitLimitMs: 100,
    });
    return { state, files };
      time: () => fixedTime(state.nowMs),
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

  it("are left to the sweep when the database cannot be asked", async () => {
    const { db } = current();
    const { files } = removal(db, "f");
    await expect(files.removeNow("no id")).resolves.toBeUndefined();
  });
});
