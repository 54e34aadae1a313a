import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterEach, expect, it } from "vitest";
import { claimScheduledCalls, intendCall, sweepExpiredClaims } from "../batches/batch-claims.ts";
import { getBatch } from "../batches/batches.ts";
import { insertCall } from "../calls/calls.ts";
import { deleteCall } from "../calls/deleted-calls.ts";
import { callsOf, expireClaims, newBatch, removeBatches, statusesOf } from "../testing/batches.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { intendDial, noteDialled } from "./carrier-dials.ts";

const dial = { carrier: "telephony1", number: "+4930123456" } as const;

describeOnBothDatabases("dials", (current) => {
  afterEach(async () => removeBatches(current().db));

  it("make an expired claim a success where the carrier has named the call since", async () => {
    const { db } = current();
    const { accountId, agentId, batchId } = await newBatch(db, callsOf(3));
    const room = { perBatch: 3, batches: new Map<string, number>(), fullAccounts: [] };
    const claimed = (await claimScheduledCalls(db, room))?.calls ?? [];
    const [lost, named, older] = [randomUUID(), randomUUID(), randomUUID()];
    for (const [index, call] of claimed.entries()) {
      const callId = [lost, named, older][index] ?? "";
      await intendCall(db, call, callId);
      await intendDial(db, accountId, { ...dial, callId });
    }
    await noteDialled(db, accountId, named, "CA1");
    // That of an earlier attempt says nothing about this one.
    await noteDialled(db, accountId, older, "CA2");
    await sql`update carrier_dials set dialled_at = dialled_at - interval '1 minute' where call_id = ${older}`.execute(
      db.query,
    );
    await expireClaims(db);
    expect(await sweepExpiredClaims(db)).toEqual({ givenBack: 0, unknown: 2 });
    expect(await statusesOf(db, batchId)).toEqual(["ERROR", "SUCCESS", "ERROR"]);
    expect(await getBatch(db, accountId, agentId, batchId)).toMatchObject({
      completedCount: 3,
      failedCount: 2,
    });
  });

  it("keep no number of a deleted call, and still count", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall();
    await insertCall(db, accountId, call);
    await intendDial(db, accountId, { ...dial, callId: call.callId });
    await noteDialled(db, accountId, call.callId, "CA1");
    await markEnded(db, accountId, call.callId, { endReason: "unjoined", endedAtMs: Date.now() });
    expect(await deleteCall(db, accountId, call.callId)).toBe("deleted");
    const left = await sql`
      select number, carrier_call_id, carrier from carrier_dials where call_id = ${call.callId}`.execute(
      db.query,
    );
    expect(left.rows).toEqual([{ number: null, carrier_call_id: null, carrier: "telephony1" }]);
  });
});
