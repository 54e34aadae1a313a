import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import type { EndCall } from "../lifecycle/end/ending.ts";
import { listCallEvents } from "../store/calls/call-events.ts";
import { getCall, insertCall, type NewCall } from "../store/calls/calls.ts";
import { markEnded, newCall } from "../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";
import { endMissedJoins } from "./missed-joins.ts";

describeOnBothDatabases("join timeouts that no process watches", (current) => {
  const node = { nodeId: "this node", bootId: "boot" };
  const callOf = async (nodeId: string, changes: Partial<NewCall> = {}) => {
    const { db } = current();
    const accountId = await newAccount(db);
    const stageId = randomUUID();
    const plan = { version: 1, maxDurationMs: 3_600_000, stage: { stageId } };
    const call = newCall({ nodeId, plan, stage: { stageId, settings: {} }, ...changes });
    await insertCall(db, accountId, call);
    return { accountId, callId: call.callId };
  };

  it("end their calls as unjoined, at the deadline, with the event", async () => {
    const { db } = current();
    const joinDeadlineMs = Date.now() - 30_000;
    const { accountId, callId } = await callOf("gone", { createdAtMs: Date.now() - 60_000, joinDeadlineMs });
    const endCall: EndCall = (account, id, end, tx = db) => markEnded(tx, account, id, end);
    const logger = { info: () => undefined, error: () => undefined };
    const liveCalls = { callIds: () => [] };
    const deps = { db, node, liveCalls, journaled: () => [], endCall, logger };
    await endMissedJoins(deps, new AbortController().signal);
    const call = await getCall(db, accountId, callId);
    expect(call).toMatchObject({ endReason: "unjoined", joinedAt: null });
    // The deadline is written by the clock of the database.
    expect(Math.abs(Date.parse(call?.endedAt ?? "") - joinDeadlineMs)).toBeLessThan(60_000);
    const filter = { minimumSeverity: "debug", type: null } as const;
    const page = { after: null, direction: "forward", limit: 10 } as const;
    const { rows } = await listCallEvents(db, accountId, callId, filter, page);
    expect(rows.map(({ text }) => text)).toEqual(["the call ended: unjoined, nobody has joined it in time"]);
  });
});
