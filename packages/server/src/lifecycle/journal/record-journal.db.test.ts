import { randomBytes, randomUUID } from "node:crypto";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pino from "pino";
import { afterEach, expect, it } from "vitest";
import { openJournal } from "../../app/journal.ts";
import { callEnder } from "../end/ending.ts";
import type { OpenedJournal } from "./record-journal.ts";
import { createCallStorage, type CallStorage } from "../storage.ts";
import { RecordQueue } from "../../runner/records/record-queue.ts";
import type { CallRecords } from "../../runner/records/call-records.ts";
import { openManualClock } from "../../runner/testing/manual-clock.ts";
import { DEFAULT_METERING } from "../../store/accounts/metering.ts";
import { listCallEvents } from "../../store/calls/call-events.ts";
import { getCall, insertCall, markJoined } from "../../store/calls/calls.ts";
import { deleteCall } from "../../store/calls/deleted-calls.ts";
import { listMessages } from "../../store/calls/messages.ts";
import { createSealer } from "../../store/secrets/secrets.ts";
import { markEnded, newCall, newMessage } from "../../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../../store/testing/databases.ts";
import { startNode } from "../../store/testing/leases.ts";

const page = { after: null, direction: "forward", limit: 100 } as const;
const allEvents = { minimumSeverity: "debug", type: null } as const;
const metrics = {
  callEnded: () => undefined,
  turnInterrupted: () => undefined,
  engineFailed: () => undefined,
  turnCompleted: () => undefined,
};

describeOnBothDatabases("the journal of records", (current) => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  const newFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), "parley-journal-"));
    folders.push(folder);
    return folder;
  };

  interface Node {
    readonly nodeId: string;
    readonly dataDir: string;
    readonly storage: CallStorage;
    readonly journal: OpenedJournal;
    readonly logged: string[];
    /** While true, no record is written and the database does not answer. */
    readonly outage: { isAway: boolean; refusesText: string | null };
  }

  const openNode = async (dataDir: string, nodeId: string, secretsKey?: Uint8Array): Promise<Node> => {
    const { db, store } = current();
    const logged: string[] = [];
    const logger = pino({ level: "warn" }, { write: (line: string) => void logged.push(line) });
    const deliver = (): void => undefined;
    const jobs = { send: async () => undefined, wake: () => undefined };
    const endCall = callEnder({ db, jobs, metering: DEFAULT_METERING, deliver });
    const stored = createCallStorage(db, metrics, {
      endCall,
      finishLate: async () => undefined,
      deliver,
      boot: { nodeId, bootId: nodeId },
      taken: () => undefined,
    });
    const outage: Node["outage"] = { isAway: false, refusesText: null };
    const check = async (text: string | null = null): Promise<void> => {
      if (outage.isAway) throw new Error("the database is away");
      if (text !== null && text === outage.refusesText) throw new Error("this text is refused");
    };
    const records: CallRecords = {
      ...stored.records,
      joined: async (id, record) => check().then(() => stored.records.joined(id, record)),
      message: async (id, record, version) =>
        check(record.text).then(() => stored.records.message(id, record, version)),
      callEvent: async (id, event, key) => check().then(() => stored.records.callEvent(id, event, key)),
      ended: async (id, record) => check().then(() => stored.records.ended(id, record)),
    };
    const storage = { ...stored, records };
    const ping = async (): Promise<void> => check().then(() => store.ping());
    const opened = secretsKey === undefined ? db : { ...db, sealer: createSealer(secretsKey) };
    const parts = {
      config: { nodeDir: dataDir },
      store: { recordsDb: opened, ping },
      storage,
      nodeId,
      logger,
    };
    return { nodeId, dataDir, storage, journal: await openJournal(parts), logged, outage };
  };

  /** A call of the node in which words are said while the database is away, up to its end. */
  const talk = async (node: Node, words: readonly string[]) => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall({ nodeId: node.nodeId });
    await insertCall(db, accountId, call);
    const { callId } = call;
    const { stageId } = call.stage;
    node.storage.remember({ callId, accountId });
    const clock = openManualClock(Date.now());
    const logger = { warn: () => undefined, error: () => undefined };
    const { records } = node.storage;
    const queue = new RecordQueue({ callId, stageId }, { records, journal: node.journal, clock, logger });
    const say = (index: number, text: string): void =>
      queue.message({ ...newMessage(index, { text }), stageId, callState: null });
    const tell = (text: string): void =>
      queue.callEvent({
        stageId,
        callTimestampMs: 10,
        wallClockTimestampMs: 10,
        severity: "info",
        type: "test",
        text,
        extras: null,
      });
    const joinedAt = new Date();
    node.outage.isAway = true;
    queue.joined({ joinedAt, clientVersion: null });
    for (const [index, text] of words.entries()) {
      say(index, text);
      tell(text);
    }
    const ending = queue.end({
      reason: "hangup",
      joinedAt,
      endedAt: new Date(),
      detail: null,
      eventLog: null,
    });
    let isOver = false;
    void ending.then(() => (isOver = true));
    // The disk is slower than the manual clock.
    await expect
      .poll(async () => clock.advance(1_000).then(() => isOver), { timeout: 30_000, interval: 5 })
      .toBe(true);
    return { accountId, callId, stageId };
  };

  const said = async ({ accountId, callId }: { accountId: string; callId: string }): Promise<string[]> => {
    const { rows } = await listMessages(current().db, accountId, callId, { mode: "in_call" }, page);
    return rows.map(({ text }) => text);
  };
  const told = async ({ accountId, callId }: { accountId: string; callId: string }): Promise<string[]> => {
    const { rows } = await listCallEvents(current().db, accountId, callId, allEvents, page);
    return rows.map(({ type, text }) => (type === "test" ? text : type));
  };
  const words = ["one", "two", "three"];

  it("holds what was said during an outage until the database is back", async () => {
    const node = await openNode(newFolder(), randomUUID());
    const call = await talk(node, words);
    expect(await said(call)).toEqual([]);
    await node.journal.replay();
    expect(await said(call)).toEqual([]);
    node.outage.isAway = false;
    await node.journal.replay();
    expect(await said(call)).toEqual(words);
    expect(await told(call)).toEqual(words);
    const stored = await getCall(current().db, call.accountId, call.callId);
    expect(stored?.endReason).toBe("hangup");
    expect(node.journal.callIds()).toEqual([]);
    expect(readdirSync(join(node.dataDir, "journal"))).toEqual([]);
  });

  it("is written by the next start, once, also where a part was written and a crash cut the last line", async () => {
    const before = await openNode(newFolder(), randomUUID());
    const call = await talk(before, words);
    const path = join(before.dataDir, "journal", `${call.callId}.journal`);
    const whole = readFileSync(path, "utf8");
    expect(whole).not.toContain("three");
    before.outage.isAway = false;
    before.outage.refusesText = "three";
    await before.journal.replay();
    expect(await said(call)).toEqual(["one", "two"]);
    appendFileSync(path, whole.slice(0, 40));
    const after = await openNode(before.dataDir, before.nodeId);
    await after.journal.replay();
    expect(await said(call)).toEqual(words);
    expect(await told(call)).toEqual(words);
    expect(after.journal.callIds()).toEqual([]);
  });

  it("gives up a record that the database never takes, writes the others, and says so before the end", async () => {
    const node = await openNode(newFolder(), randomUUID());
    const call = await talk(node, words);
    node.outage.isAway = false;
    node.outage.refusesText = "two";
    for (let pass = 0; pass < 5; pass += 1) {
      expect(node.journal.has(call.callId)).toBe(true);
      await node.journal.replay();
    }
    expect(await said(call)).toEqual(["one", "three"]);
    expect(await told(call)).toEqual([...words, "records.lost"]);
    expect((await getCall(current().db, call.accountId, call.callId))?.endReason).toBe("hangup");
  });

  it("is bounded, keeps the end, and says how much did not fit", async () => {
    const node = await openNode(newFolder(), randomUUID());
    const long = "x".repeat(1_500_000);
    const call = await talk(node, ["short", long, long]);
    node.outage.isAway = false;
    await node.journal.replay();
    expect((await said(call)).map((text) => text.length)).toEqual([5, long.length]);
    expect((await told(call)).at(-1)).toBe("records.lost");
    expect((await getCall(current().db, call.accountId, call.callId))?.endReason).toBe("hangup");
  });

  it("brings nothing back of a deleted call or of an erased transcript", async () => {
    const { db } = current();
    const node = await openNode(newFolder(), randomUUID());
    const deleted = await talk(node, words);
    const erased = await talk(node, words);
    const end = { endReason: "hangup", endedAtMs: Date.now() } as const;
    for (const { accountId, callId } of [deleted, erased]) await markEnded(db, accountId, callId, end);
    expect(await deleteCall(db, deleted.accountId, deleted.callId)).toBe("deleted");
    await sql`update calls set transcript_erased = true where id = ${erased.callId}`.execute(db.query);
    node.outage.isAway = false;
    await node.journal.replay();
    for (const call of [deleted, erased]) expect([await said(call), await told(call)]).toEqual([[], []]);
    expect(node.journal.callIds()).toEqual([]);
    expect(node.logged.join("")).toContain("the journal of a call was removed: the call was deleted");
  });

  it("is removed where the call belongs to another node that is alive, and written where that one is gone", async () => {
    const { db } = current();
    const original = await openNode(newFolder(), randomUUID());
    const call = await talk(original, words);
    await startNode(db, { nodeId: original.nodeId, bootId: "boot" });
    const gone = await openNode(newFolder(), randomUUID());
    const orphan = await talk(gone, words);
    const copy = await openNode(original.dataDir, randomUUID());
    await copy.journal.replay();
    expect(await said(call)).toEqual([]);
    expect(copy.logged.join("")).toContain("the call is of another node");
    const heir = await openNode(gone.dataDir, randomUUID());
    await heir.journal.replay();
    expect(await said(orphan)).toEqual(words);
  });

  it("keeps files that were sealed with another key", async () => {
    const node = await openNode(newFolder(), randomUUID());
    const { callId } = await talk(node, words);
    const other = await openNode(node.dataDir, node.nodeId, new Uint8Array(randomBytes(32)));
    await other.journal.replay();
    expect(readdirSync(join(node.dataDir, "journal"))).toEqual([`${callId}.unreadable`]);
  });

  it("never replaces a newer text by an older one, and writes an event once", async () => {
    const { db } = current();
    const node = await openNode(newFolder(), randomUUID());
    const accountId = await newAccount(db);
    const call = newCall({ nodeId: node.nodeId });
    await insertCall(db, accountId, call);
    await markJoined(db, accountId, call.callId, { joinedAtMs: Date.now(), clientVersion: null });
    const { callId } = call;
    const { stageId } = call.stage;
    node.storage.remember({ callId, accountId });
    const { records } = node.storage;
    const message = (text: string) => ({ ...newMessage(0, { text }), stageId, callState: null });
    await records.message(callId, message("newer"), 2);
    await records.message(callId, message("older"), 1);
    expect(await said({ accountId, callId })).toEqual(["newer"]);
    const key = randomUUID();
    const base = { stageId, callTimestampMs: 0, wallClockTimestampMs: 0, severity: "info" } as const;
    for (let i = 0; i < 2; i += 1) {
      await records.callEvent(callId, { ...base, type: "test", text: "once", extras: null }, key);
    }
    expect(await told({ accountId, callId })).toEqual(["once"]);
  });
});
