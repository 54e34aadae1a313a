import { expect, it } from "vitest";
import { finishCallJob } from "../../jobs/definitions/finish-call.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import { insertCall, markJoined } from "../../store/calls/calls.ts";
import { markEnded, newCall, newMessage } from "../../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../../store/testing/databases.ts";
import { createCallStorage } from "../storage.ts";
import { lateFinisher } from "./ending.ts";

const metrics = {
  callEnded: () => undefined,
  turnInterrupted: () => undefined,
  engineFailed: () => undefined,
  turnCompleted: () => undefined,
};

describeOnBothDatabases("words of a call", (current) => {
  it("that are stored after its end queue its summary, once for those that come together", async () => {
    const { db } = current();
    const sent: { callId: string; startAfterMs: number | undefined }[] = [];
    const send: Jobs["send"] = async (_tx, definition, data, options) => {
      expect(definition.name).toBe(finishCallJob.name);
      sent.push({ callId: String(Reflect.get(data, "callId")), startAfterMs: options?.startAfterMs });
    };
    let nowMs = Date.now();
    const finishLate = lateFinisher({ db, jobs: { send }, now: () => nowMs });
    const endCall = async (): Promise<boolean> => true;
    const storage = createCallStorage(db, metrics, {
      endCall,
      finishLate,
      deliver: () => undefined,
      boot: { nodeId: "n1", bootId: "b1" },
      taken: () => undefined,
    });
    const accountId = await newAccount(db);
    const call = newCall({});
    const { callId } = call;
    const { stageId } = call.stage;
    await insertCall(db, accountId, call);
    storage.remember({ callId, accountId });
    const say = (index: number, role: "user" | "agent"): Promise<void> =>
      storage.records.message(
        callId,
        { ...newMessage(index, { role, text: "hello" }), stageId, callState: null },
        0,
      );

    await markJoined(db, accountId, callId, { joinedAtMs: call.createdAtMs, clientVersion: null });
    await say(0, "user");
    const end = { endReason: "system_error", endedAtMs: call.createdAtMs + 5_000 } as const;
    await markEnded(db, accountId, callId, { ...end, settlesLater: true });
    await say(1, "agent");
    expect(sent).toEqual([]);

    await say(2, "user");
    await say(3, "user");
    expect(sent).toEqual([{ callId, startAfterMs: nowMs + 5_000 }]);
    nowMs += 5_000;
    await say(4, "user");
    expect(sent).toHaveLength(2);
  });
});
