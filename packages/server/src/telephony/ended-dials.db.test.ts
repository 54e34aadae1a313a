import { expect, it } from "vitest";
import type { JoinState } from "../runner/live-calls.ts";
import { intendDial, noteProgress, noteRefused } from "../store/telephony/carrier-dials.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";
import { endDials } from "./ended-dials.ts";
import { NUMBERS, storeDialledCall } from "./testing/telephony-account.ts";

describeOnBothDatabases("dialled calls whose callback came to another process", (current) => {
  async function dialled(accountId: string, result: "busy" | "completed" | null): Promise<string> {
    const { db } = current();
    const { callId } = await storeDialledCall(db, accountId);
    await intendDial(db, accountId, { callId, carrier: "telephony1", number: NUMBERS.to });
    const progress = { carrierCallId: "CA1", isAnswered: false, detail: null, talkedMs: null };
    await noteProgress(db, accountId, callId, { ...progress, result });
    return callId;
  }

  it("end where they run, and no others", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const [busy, ringing, lost, talking] = [
      await dialled(accountId, "busy"),
      await dialled(accountId, null),
      await dialled(accountId, "completed"),
      await dialled(accountId, "completed"),
    ];
    const refused = await dialled(accountId, null);
    await noteRefused(db, accountId, refused, "no such number");
    const elsewhere = await dialled(accountId, "busy");
    const { callId: undialled } = await storeDialledCall(db, accountId);
    const states = new Map<string, JoinState>([
      [busy, "joinable"],
      [ringing, "joinable"],
      [lost, "joinable"],
      [talking, "connected"],
      [refused, "joinable"],
      [undialled, "joinable"],
    ]);
    const ended: string[] = [];
    const liveCalls = {
      callIds: () => [...states.keys()],
      joinState: (callId: string) => states.get(callId) ?? "not_live",
      endUnjoined: (callId: string) => callId !== lost && ended.push(`unjoined ${callId}`) > 0,
      endCall: (callId: string) => ended.push(`hangup ${callId}`) > 0,
    };
    await endDials({ db, liveCalls, logger: { warn: () => undefined } });
    expect(ended.toSorted()).toEqual([`hangup ${lost}`, `unjoined ${busy}`].toSorted());
    expect(ended).not.toContain(`unjoined ${elsewhere}`);
  });
});
