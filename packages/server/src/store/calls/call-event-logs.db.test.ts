import { sql } from "kysely";
import { expect, it } from "vitest";
import { lastEventLogChunk, readEventLogChunk, saveEventLogChunk } from "./call-event-logs.ts";
import { insertCall } from "./calls.ts";
import { newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

describeOnBothDatabases("the event logs of calls", (current) => {
  it("stores chunks of any text, packed and sealed, for their account only", async () => {
    const { db } = current();
    const [owner, stranger] = [await newAccount(db), await newAccount(db)];
    const call = newCall();
    await insertCall(db, owner, call);
    const text = `${'{"said":"plain words"}\n'.repeat(5_000)}\u0000 🙂\n`;
    expect(await readEventLogChunk(db, owner, call.callId, 0)).toBeNull();
    for (const index of [0, 1]) {
      const chunk = { index, eventCount: 5_000, text: `${String(index)} ${text}` };
      expect(await saveEventLogChunk(db, owner, call.callId, chunk)).toBe(true);
      expect(await saveEventLogChunk(db, owner, call.callId, chunk)).toBe(true);
    }
    expect(await readEventLogChunk(db, owner, call.callId, 1)).toBe(`1 ${text}`);
    expect(await readEventLogChunk(db, owner, call.callId, 2)).toBeNull();
    expect(await readEventLogChunk(db, stranger, call.callId, 0)).toBeNull();
    expect(await saveEventLogChunk(db, stranger, call.callId, { index: 0, eventCount: 1, text: "x" })).toBe(
      false,
    );
    const raw = await sql<{ row: string }>`
      select call_event_log_chunks::text as row from call_event_log_chunks where call_id = ${call.callId}`.execute(
      db.query,
    );
    expect(raw.rows).toHaveLength(2);
    for (const { row } of raw.rows) {
      expect(row).not.toContain("plain words");
      expect(row.length).toBeLessThan(10_000);
    }
  });

  it("knows the highest chunk of a call for its account alone, whatever is missing below", async () => {
    const { db } = current();
    const [owner, stranger] = [await newAccount(db), await newAccount(db)];
    const call = newCall();
    await insertCall(db, owner, call);
    expect(await lastEventLogChunk(db, owner, call.callId)).toBeNull();
    for (const index of [0, 12, 3]) {
      await saveEventLogChunk(db, owner, call.callId, { index, eventCount: 1, text: "x\n" });
    }
    expect(await lastEventLogChunk(db, owner, call.callId)).toBe(12);
    expect(await lastEventLogChunk(db, stranger, call.callId)).toBeNull();
  });

  it("is deleted with its call", async () => {
    const { db } = current();
    const owner = await newAccount(db);
    const call = newCall();
    await insertCall(db, owner, call);
    await saveEventLogChunk(db, owner, call.callId, { index: 0, eventCount: 1, text: "x\n" });
    await sql`delete from calls where id = ${call.callId}`.execute(db.query);
    expect(await readEventLogChunk(db, owner, call.callId, 0)).toBeNull();
  });
});
