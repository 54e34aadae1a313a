import { expect, it } from "vitest";
import { snapshotOf } from "../call/adoption/snapshot.ts";
import { joinedCall } from "../call/testing/scenario.ts";
import { insertCall, markJoined } from "../store/calls/calls.ts";
import { newCall } from "../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";
import { startNode } from "../store/testing/leases.ts";
import { createCallStorage } from "./storage.ts";

describeOnBothDatabases("the storage of live calls", (current) => {
  it("keeps nothing of a call that another process has taken", async () => {
    const { db } = current();
    const [own, other] = [
      { nodeId: "own", bootId: "boot-own" },
      { nodeId: "other", bootId: "boot-other" },
    ];
    await startNode(db, own);
    await startNode(db, other);
    const accountId = await newAccount(db);
    const call = newCall({ nodeId: other.nodeId });
    const { callId } = call;
    await insertCall(db, accountId, call);
    await markJoined(db, accountId, callId, { joinedAtMs: Date.now(), clientVersion: null, by: other });
    const taken: string[] = [];
    const none = (): void => undefined;
    const storage = createCallStorage(
      db,
      { callEnded: none, turnInterrupted: none, engineFailed: none, turnCompleted: none },
      {
        endCall: () => Promise.reject(new Error("ended")),
        finishLate: () => Promise.resolve(),
        deliver: none,
        boot: own,
        taken: (id) => void taken.push(id),
      },
    );
    storage.remember({ callId, accountId });
    const { state } = joinedCall().run(320);
    const counts = { versions: 0, toolFailures: [], initialTokens: [] };
    await storage.records.snapshot(callId, { snapshot: snapshotOf(state), counts, use: [] });
    expect(taken).toEqual([callId]);
    expect(() => storage.accountOf(callId)).toThrow("does not belong to this process");
  });
});
