import { expect, it } from "vitest";
import { newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { appendCallEvent, listCallEvents, type NewCallEvent } from "./call-events.ts";
import { insertCall } from "./calls.ts";

describeOnBothDatabases("the events of a call", (current) => {
  it("have one end, also where the process that was thought lost writes its own later", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall();
    const { callId, stage } = call;
    await insertCall(db, accountId, call);
    const event = (type: string, text: string): NewCallEvent => ({
      stageId: stage.stageId,
      callTimestampMs: 0,
      wallClockTimestampMs: null,
      severity: "info",
      type,
      text,
      extras: null,
    });
    expect(await appendCallEvent(db, accountId, callId, event("call.ended", "by a sweep"))).toBe(true);
    expect(await appendCallEvent(db, accountId, callId, event("call.ended", "by its process"))).toBe(false);
    expect(await appendCallEvent(db, accountId, callId, event("call.resumed", "once"))).toBe(true);
    expect(await appendCallEvent(db, accountId, callId, event("call.resumed", "twice"))).toBe(true);
    const page = { after: null, direction: "forward", limit: 10 } as const;
    const { rows } = await listCallEvents(
      db,
      accountId,
      callId,
      { minimumSeverity: "debug", type: null },
      page,
    );
    expect(rows.map(({ text }) => text)).toEqual(["by a sweep", "once", "twice"]);
  });
});
