import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { appendCallEvent, listCallEvents, type NewCallEvent } from "./call-events.ts";
import { getCall, insertCall, type NewCall } from "./calls.ts";
import type { Db } from "../database/db.ts";
import { appendMessage, listMessages, type MessageFilter } from "./messages.ts";
import { newCall, newMessage } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

const firstPage = { limit: 100, after: null, direction: "forward" } as const;
const everything = { minimumSeverity: "debug", type: null } as const;

async function callWith(
  db: Db,
  changes: Partial<NewCall> = {},
): Promise<{ accountId: string; callId: string; stageId: string }> {
  const accountId = await newAccount(db);
  const call = newCall(changes);
  await insertCall(db, accountId, call);
  return { accountId, callId: call.callId, stageId: call.stage.stageId };
}

function event(changes: Partial<NewCallEvent> = {}): NewCallEvent {
  return {
    stageId: randomUUID(),
    callTimestampMs: 10,
    wallClockTimestampMs: 12,
    severity: "info",
    type: "turn.completed",
    text: "A turn.",
    extras: null,
    ...changes,
  };
}

describeOnBothDatabases("messages", (current) => {
  it("gives back what was written, oldest first", async () => {
    const { db } = current();
    const { accountId, callId, stageId } = await callWith(db);
    const said = newMessage(0, { text: "zwei Äpfel\u0000😀", timespan: { startMs: 1.4, endMs: 2.6 } });
    const used = newMessage(1, {
      role: "tool_result",
      invocationId: "i1",
      toolName: "lookUp",
      errorDetails: "HTTP 404",
      callState: { apples: 2 },
      medium: "text",
      timespan: null,
      wallClockTimespan: null,
      metadata: { interrupted: "true" },
    });
    expect(await appendMessage(db, accountId, callId, stageId, used)).toBe("written");
    expect(await appendMessage(db, accountId, callId, stageId, said)).toBe("written");
    const page = await listMessages(db, accountId, callId, { mode: "in_call" }, firstPage);
    expect(page).toEqual({
      total: 2,
      totalIsExact: true,
      next: null,
      previous: null,
      rows: [
        {
          ...said,
          stageId,
          initial: false,
          text: "zwei Äpfel\uFFFD😀",
          timespan: { startMs: 1, endMs: 3 },
        },
        { ...used, stageId, initial: false },
      ],
    });
  });

  it("replaces the message of the same index and leaves its place", async () => {
    const { db } = current();
    const { accountId, callId, stageId } = await callWith(db, { initialMessages: [newMessage(0)] });
    for (const index of [1, 2]) await appendMessage(db, accountId, callId, stageId, newMessage(index));
    const cut = newMessage(1, { role: "agent", text: "what was", metadata: { interrupted: "true" } });
    expect(await appendMessage(db, accountId, callId, stageId, cut)).toBe("written");
    const page = await listMessages(db, accountId, callId, { mode: "last_stage" }, firstPage);
    expect(page.rows.map((row) => row.text)).toEqual(["message 0", "what was", "message 2"]);
    expect(page.rows.map((row) => row.initial)).toEqual([true, false, false]);
    expect(page.rows[1]?.metadata).toEqual({ interrupted: "true" });
  });

  it("tells the last stage with its history from the whole call without histories", async () => {
    const { db } = current();
    const { accountId, callId, stageId } = await callWith(db, { initialMessages: [newMessage(0)] });
    await appendMessage(db, accountId, callId, stageId, newMessage(1));
    const secondStageId = randomUUID();
    await sql`insert into call_stages (id, call_id, account_id, position, created_at, settings)
      values (${secondStageId}, ${callId}, ${accountId}, 1, now(), '{}')`.execute(db.query);
    await appendMessage(db, accountId, callId, secondStageId, newMessage(0, { text: "later" }));
    await appendMessage(db, accountId, callId, stageId, newMessage(2));
    const texts = async (filter: MessageFilter): Promise<string[]> =>
      (await listMessages(db, accountId, callId, filter, firstPage)).rows.map((row) => row.text);
    expect(await texts({ mode: "last_stage" })).toEqual(["later"]);
    expect(await texts({ mode: "in_call" })).toEqual(["message 1", "message 2", "later"]);
    expect(await texts({ mode: "stage", stageId })).toEqual(["message 0", "message 1", "message 2"]);
    expect(await texts({ mode: "stage", stageId: randomUUID() })).toEqual([]);
  });

  it("pages through a long call", async () => {
    const { db } = current();
    const { accountId, callId, stageId } = await callWith(db);
    await Promise.all(
      Array.from({ length: 25 }, async (_, index) =>
        appendMessage(db, accountId, callId, stageId, newMessage(index)),
      ),
    );
    const read: number[] = [];
    let page = await listMessages(db, accountId, callId, { mode: "in_call" }, { ...firstPage, limit: 10 });
    read.push(...page.rows.map((row) => row.index));
    while (page.next !== null) {
      page = await listMessages(db, accountId, callId, { mode: "in_call" }, { ...page.next, limit: 10 });
      expect(page.total).toBe(25);
      read.push(...page.rows.map((row) => row.index));
    }
    expect(read).toEqual(Array.from({ length: 25 }, (_, index) => index));
  });

  it("isolates accounts and calls", async () => {
    const { db } = current();
    const { accountId, callId, stageId } = await callWith(db, { initialMessages: [newMessage(0)] });
    const other = await callWith(db);
    expect(await appendMessage(db, other.accountId, callId, stageId, newMessage(1))).toBe("refused");
    expect(await appendMessage(db, accountId, other.callId, stageId, newMessage(1))).toBe("refused");
    expect(await appendMessage(db, other.accountId, other.callId, stageId, newMessage(0))).toBe("refused");
    for (const filter of [{ mode: "last_stage" }, { mode: "in_call" }, { mode: "stage", stageId }] as const) {
      expect((await listMessages(db, other.accountId, callId, filter, firstPage)).total).toBe(0);
    }
    const own = await listMessages(db, accountId, callId, { mode: "last_stage" }, firstPage);
    expect(own.rows.map((row) => row.text)).toEqual(["message 0"]);
  });
});

describeOnBothDatabases("call events", (current) => {
  it("gives back what was written, oldest first", async () => {
    const { db } = current();
    const { accountId, callId, stageId } = await callWith(db);
    const written = [
      event({ stageId, callTimestampMs: 5.5, extras: { first: 1.5, "nul \u0000": ["\udc00"] } }),
      event({ stageId, wallClockTimestampMs: null, severity: "error", type: "llm.failed", text: "a\u0000b" }),
    ];
    for (const each of written) expect(await appendCallEvent(db, accountId, callId, each)).toBe(true);
    expect((await listCallEvents(db, accountId, callId, everything, firstPage)).rows).toEqual([
      { ...written[0], callId, callTimestampMs: 6, extras: { first: 1.5, "nul \uFFFD": ["\uFFFD"] } },
      { ...written[1], callId, text: "a\uFFFDb" },
    ]);
  });

  it.each([
    ["stt.failed", "warning", true],
    ["llm.failed", "warning", true],
    ["tts.failed", "error", true],
    ["vad.failed", "error", true],
    ["media.underflow", "warning", false],
    ["turn.completed", "info", false],
  ] as const)("%s of severity %s marks the call: %s", async (type, severity, marked) => {
    const { db } = current();
    const { accountId, callId } = await callWith(db);
    await appendCallEvent(db, accountId, callId, event({ severity, type }));
    expect((await getCall(db, accountId, callId))?.hasErrors).toBe(marked);
  });

  it("filters by severity and type", async () => {
    const { db } = current();
    const { accountId, callId } = await callWith(db);
    for (const severity of ["error", "debug", "warning", "info"] as const) {
      await appendCallEvent(db, accountId, callId, event({ severity, type: `of.${severity}` }));
    }
    const types = async (filter: Parameters<typeof listCallEvents>[3]): Promise<string[]> =>
      (await listCallEvents(db, accountId, callId, filter, firstPage)).rows.map((row) => row.type);
    expect(await types(everything)).toEqual(["of.error", "of.debug", "of.warning", "of.info"]);
    expect(await types({ minimumSeverity: "warning", type: null })).toEqual(["of.error", "of.warning"]);
    expect(await types({ minimumSeverity: "info", type: "of.info" })).toEqual(["of.info"]);
    expect(await types({ minimumSeverity: "error", type: "of.info" })).toEqual([]);
    expect(await types({ minimumSeverity: "debug", type: "of.\u0000" })).toEqual([]);
  });

  it("pages in the order of writing", async () => {
    const { db } = current();
    const { accountId, callId } = await callWith(db);
    for (let index = 0; index < 7; index += 1) {
      await appendCallEvent(db, accountId, callId, event({ text: String(index) }));
    }
    const first = await listCallEvents(db, accountId, callId, everything, { ...firstPage, limit: 3 });
    const second = await listCallEvents(
      db,
      accountId,
      callId,
      everything,
      first.next === null ? firstPage : { ...first.next, limit: 3 },
    );
    expect([...first.rows, ...second.rows].map((row) => row.text)).toEqual(["0", "1", "2", "3", "4", "5"]);
    expect(second.previous).not.toBeNull();
    expect(second.total).toBe(7);
  });

  it("isolates accounts", async () => {
    const { db } = current();
    const { accountId, callId } = await callWith(db);
    const stranger = await newAccount(db);
    expect(await appendCallEvent(db, stranger, callId, event())).toBe(false);
    await appendCallEvent(db, accountId, callId, event());
    expect((await listCallEvents(db, stranger, callId, everything, firstPage)).total).toBe(0);
    expect((await listCallEvents(db, accountId, callId, everything, firstPage)).total).toBe(1);
  });
});
