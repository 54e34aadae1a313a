import { sql } from "kysely";
import { expect, it } from "vitest";
import { createAgent, getAgentForCall } from "../agents/agents.ts";
import { appendCallEvent } from "../calls/call-events.ts";
import { endCall, getCall, insertCall, markJoined } from "../calls/calls.ts";
import { inTransaction, type Db } from "./db.ts";
import { newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

async function live(tx: Db, accountId: string, agentId: string | null, text: string): Promise<void> {
  const call = newCall({ agentId, metadata: text === "" ? {} : { text } });
  const { callId, stage } = call;
  await insertCall(tx, accountId, call);
  await markJoined(tx, accountId, callId, { joinedAtMs: Date.now(), clientVersion: text });
  await appendCallEvent(tx, accountId, callId, {
    stageId: stage.stageId,
    callTimestampMs: 5,
    wallClockTimestampMs: text === "" ? null : 6,
    severity: "info",
    type: "turn.completed",
    text,
    extras: text === "" ? null : { text },
  });
  await endCall(tx, accountId, callId, {
    endReason: "hangup",
    endedAtMs: Date.now(),
  });
  expect(await getCall(tx, accountId, callId)).toMatchObject({ callId, endReason: "hangup" });
}

describeOnBothDatabases("prepared statements", (current) => {
  it("are as many after many calls as after one", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { agentId } = await createAgent(db, accountId, { name: "A", callTemplate: null });
    // All statements use one connection.
    await inTransaction(db, async (tx) => {
      const names = async (): Promise<string[]> => {
        const read = await sql<{ name: string }>`
          select name from pg_prepared_statements where name like 'parley%' order by name`.execute(tx.query);
        return read.rows.map(({ name }) => name);
      };
      const once = async (text: string): Promise<void> => {
        await getAgentForCall(tx, accountId, agentId);
        await live(tx, accountId, text === "" ? null : agentId, text);
      };
      await once("first");
      const first = await names();
      expect(first).toHaveLength(6);
      // From the sixth execution on, PostgreSQL may use a generic plan.
      for (const text of ["", "b", "c", "it's", "ü", "\\", "$1", "h"]) await once(text);
      expect(await names()).toEqual(first);
    });
  });

  it("serve many connections at a time", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    await Promise.all(Array.from({ length: 64 }, async (_, turn) => live(db, accountId, null, String(turn))));
    const counted = await sql<{ count: number }>`
      select count(*) as count from calls where account_id = ${accountId} and ended_at is not null`.execute(
      db.query,
    );
    expect(counted.rows[0]?.count).toBe(64);
  });
});
