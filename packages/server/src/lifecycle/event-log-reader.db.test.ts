import { expect, it } from "vitest";
import { formatEvents, formatNote } from "../call/event-lines.ts";
import { storedPlan } from "../plan/stored-plan.ts";
import { testPlan } from "../call/testing/plan.ts";
import { joinedCall } from "../call/testing/scenario.ts";
import { readEventLog } from "./event-log-reader.ts";
import { readEventLogEnd, saveEventLogChunk, saveEventLogEnd } from "../store/calls/call-event-logs.ts";
import { insertCall } from "../store/calls/calls.ts";
import { markEnded, newCall } from "../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";

const SECRET = "do-not-show";

async function joined(lines: AsyncIterable<string> | null): Promise<string> {
  let text = "";
  for await (const part of lines ?? []) text += part;
  return text;
}

describeOnBothDatabases("the event log of a call", (current) => {
  async function storedCall(plan: object) {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall({ plan });
    await insertCall(db, accountId, call);
    const save = (index: number, text: string) =>
      saveEventLogChunk(db, accountId, call.callId, { index, eventCount: 1, text });
    return { db, accountId, callId: call.callId, save };
  }

  it("is the plan without secrets, then every event in its order, then the notes", async () => {
    const { events, state } = joinedCall().says("What time is it?").run(4_000);
    const plan = testPlan({
      callToken: SECRET,
      dataConnection: {
        websocketUrl: "wss://data.example/",
        headers: { Authorization: SECRET },
        sharedSecrets: [SECRET],
        audio: null,
        dataMessages: state.flags,
      },
    });
    const { db, accountId, callId, save } = await storedCall(storedPlan(plan));
    await save(0, formatEvents(events.slice(0, 50)));
    await save(1, `${formatEvents(events.slice(50))}${formatNote("the log ends here")}`);
    const text = await joined(await readEventLog(db, accountId, callId));
    expect(text).not.toContain(SECRET);
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines[0]).toMatchObject({ plan: { callId: plan.callId, dataConnection: { headers: {} } } });
    expect(lines.slice(1, -1)).toEqual(events);
    expect(lines.at(-1)).toEqual({ note: "the log ends here" });
  });

  it.each([
    [[0, 2, 3], 1],
    [[1, 2], 0],
    [[0, 1, 5], 2],
  ])("stops with a note where a chunk was lost: of %j %d are read", async (indices, whole) => {
    const { db, accountId, callId, save } = await storedCall(storedPlan(testPlan()));
    for (const index of indices) await save(index, formatEvents([{ type: "transportLost", atMs: index }]));
    const text = await joined(await readEventLog(db, accountId, callId));
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.slice(1)).toEqual([
      ...Array.from({ length: whole }, (_, i) => ({ type: "transportLost", atMs: i })),
      { note: "events are missing here: the log ends at this point" },
    ]);
  });

  it("says that the last chunk is missing, also where it is the only one", async () => {
    const { db, accountId, callId, save } = await storedCall(storedPlan(testPlan()));
    await saveEventLogEnd(db, accountId, callId, { chunks: 2, events: 2 });
    const gap = '{"note":"events are missing here: the log ends at this point"}\n';
    expect(await joined(await readEventLog(db, accountId, callId))).toMatch(
      /^\{"plan":.*\}\n\{"note":.*\}\n$/,
    );
    await save(0, formatEvents([{ type: "started", atMs: 0 }]));
    expect(await joined(await readEventLog(db, accountId, callId))).toContain(`"atMs":0}\n${gap}`);
    await save(1, formatEvents([{ type: "transportLost", atMs: 1 }]));
    expect(await joined(await readEventLog(db, accountId, callId))).not.toContain("note");
    await saveEventLogEnd(db, accountId, callId, { chunks: 2, events: 3 });
    expect(await joined(await readEventLog(db, accountId, callId))).toContain(
      '{"note":"the log has 2 of 3 events"}',
    );
    expect(await readEventLogEnd(db, await newAccount(db), callId)).toBeNull();
    expect(await saveEventLogEnd(db, await newAccount(db), callId, { chunks: 0, events: 0 })).toBe(false);
    expect(await readEventLogEnd(db, accountId, callId)).toEqual({ chunks: 2, events: 3 });
  });

  it("says of a call that has ended without telling how much there is that its end is not known", async () => {
    const { db, accountId, callId, save } = await storedCall(storedPlan(testPlan()));
    await save(0, formatEvents([{ type: "started", atMs: 0 }]));
    expect(await joined(await readEventLog(db, accountId, callId))).not.toContain("note");
    const end = { endReason: "system_error", endedAtMs: Date.now() } as const;
    await markEnded(db, accountId, callId, end);
    expect(await joined(await readEventLog(db, accountId, callId))).toContain(
      '{"note":"it is unknown whether events are missing at the end',
    );
    await saveEventLogEnd(db, accountId, callId, { chunks: 1, events: 1 });
    expect(await joined(await readEventLog(db, accountId, callId))).not.toContain("note");
  });

  it("is none for another account, without chunks, and where the plan is of another version", async () => {
    const { db, accountId, callId, save } = await storedCall(storedPlan(testPlan()));
    expect(await readEventLog(db, accountId, callId)).toBeNull();
    await save(0, formatEvents([{ type: "started", atMs: 0 }]));
    expect(await readEventLog(db, accountId, callId)).not.toBeNull();
    expect(await readEventLog(db, await newAccount(db), callId)).toBeNull();
    const older = await storedCall({ planVersion: 0 });
    await older.save(0, formatEvents([{ type: "started", atMs: 0 }]));
    expect(await readEventLog(db, older.accountId, older.callId)).toBeNull();
  });
});
