import { expect, it } from "vitest";
import type { Answerer, JoinState } from "../runner/live-calls.ts";
import { intendDial, noteAnsweredBy, noteProgress, noteRefused } from "../store/telephony/carrier-dials.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";
import { noteDials } from "./ended-dials.ts";
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
      awaitingAnswerer: () => [talking],
      noteAnswerer: () => true,
    };
    await noteDials({ db, liveCalls, logger: { warn: () => undefined } }, new Map());
    expect(ended.toSorted()).toEqual([`hangup ${lost}`, `unjoined ${busy}`].toSorted());
    expect(ended).not.toContain(`unjoined ${elsewhere}`);
  });

  it("learn there that a machine has answered, once for each word of the carrier", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const [talking, ringing, older] = [
      await dialled(accountId, null),
      await dialled(accountId, null),
      await dialled(accountId, null),
    ];
    const noted: string[] = [];
    const liveCalls = {
      callIds: () => [talking, ringing, older],
      joinState: (callId: string) => (callId === ringing ? "joinable" : "connected") as JoinState,
      endUnjoined: () => false,
      endCall: () => false,
      awaitingAnswerer: () => [talking],
      noteAnswerer: (callId: string, answerer: Answerer) =>
        noted.push(`${callId === talking ? "talking" : "ringing"} ${JSON.stringify(answerer)}`) > 0,
    };
    const deps = { db, liveCalls, logger: { warn: () => undefined } };
    const said = new Map<string, string>();
    await noteDials(deps, said);
    expect(noted).toEqual([]);
    for (const callId of [talking, ringing, older])
      await noteAnsweredBy(db, accountId, callId, "machine_start");
    await noteDials(deps, said);
    await noteDials(deps, said);
    const start = JSON.stringify({ answeredBy: "machine_start", isMachine: true, greetingEnded: false });
    expect(noted.toSorted()).toEqual([`ringing ${start}`, `talking ${start}`]);
    await noteAnsweredBy(db, accountId, talking, "machine_end_beep");
    await noteDials(deps, said);
    const end = JSON.stringify({ answeredBy: "machine_end_beep", isMachine: true, greetingEnded: true });
    expect(noted.at(-1)).toBe(`talking ${end}`);
    expect(noted).toHaveLength(3);
    await noteDials(
      { ...deps, liveCalls: { ...liveCalls, callIds: () => [], awaitingAnswerer: () => [] } },
      said,
    );
    expect(said.size).toBe(0);
  });
});
