import { expect, test } from "vitest";
import type { CallEventRecord, MessageRecord } from "../../call/effects.ts";
import type { EndedRecord } from "./call-records.ts";
import { RecordQueue } from "./record-queue.ts";
import { openMemoryJournal } from "../testing/memory-journal.ts";
import { openManualClock, settle } from "../testing/manual-clock.ts";
import { openMemoryRecords } from "../testing/memory-records.ts";

const message = (index: number, text: string): MessageRecord => ({
  index,
  stageId: "s",
  role: "agent",
  text,
  medium: "voice",
  invocationId: null,
  toolName: null,
  errorDetails: null,
  callState: null,
  timespan: null,
  wallClockTimespan: null,
  metadata: {},
});

const event = (text: string): CallEventRecord => ({
  stageId: "s",
  callTimestampMs: 0,
  wallClockTimestampMs: null,
  severity: "info",
  type: "test",
  text,
  extras: null,
});

const end: EndedRecord = {
  reason: "hangup",
  joinedAt: null,
  endedAt: new Date(0),
  detail: null,
  eventLog: null,
};

/** The disk takes nothing unless a test says otherwise. */
function start() {
  const records = openMemoryRecords();
  const journal = openMemoryJournal();
  journal.isBroken = true;
  const clock = openManualClock();
  const logged: string[] = [];
  const log = (_fields: unknown, text: string) => {
    logged.push(text);
  };
  const logger = { warn: log, error: log };
  const queue = new RecordQueue({ callId: "c", stageId: "s" }, { records, journal, clock, logger });
  return { records, journal, clock, queue, logged };
}

test("records are written one at a time in order, and the end last", async () => {
  const { records, queue, clock } = start();
  const order: string[] = [];
  let running = 0;
  records.trouble = async () => {
    running += 1;
    expect(running).toBe(1);
    await settle();
    running -= 1;
  };
  const wrote = async (text: string) => {
    await records.trouble?.();
    order.push(text);
  };
  records.callEvent = (_id, one) => wrote(one.text);
  records.message = (_id, one) => wrote(one.text);
  records.ended = () => wrote("end");
  queue.callEvent(event("1"));
  queue.message(message(0, "2"));
  queue.callEvent(event("3"));
  await queue.end(end);
  queue.callEvent(event("late"));
  expect(order).toEqual(["1", "2", "3", "end"]);
  expect(clock.pending()).toBe(0);
});

test("a message that waits is replaced by its newer text", async () => {
  const { records, queue, clock } = start();
  let release = () => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  records.trouble = () => blocked;
  for (let i = 0; i < 500; i += 1) queue.message(message(3, `text ${String(i)}`));
  release();
  await queue.end(end);
  expect(records.messages.map(({ message: { text } }) => text)).toEqual(["text 0", "text 499"]);
  expect(clock.pending()).toBe(0);
});

test("a failing record is tried again, and nothing overtakes it", async () => {
  const { records, queue, clock } = start();
  let failures = 3;
  records.trouble = () => {
    failures -= 1;
    return failures >= 0 ? Promise.reject(new Error("down")) : Promise.resolve();
  };
  queue.callEvent(event("first"));
  queue.callEvent(event("second"));
  await clock.advance(5_000);
  expect(records.events.map(({ event: { text } }) => text)).toEqual(["first", "second"]);
  await queue.end(end);
  expect(records.ends.length).toBe(1);
});

test("a record that cannot be written goes into the journal, with all that follow until they are written", async () => {
  const { records, journal, queue, clock } = start();
  journal.isBroken = false;
  records.callEvent = () => Promise.reject(new Error("never"));
  queue.callEvent(event("bad"));
  queue.message(message(0, "hello"));
  await clock.advance(5_000);
  queue.message(message(1, "goodbye"));
  const ending = queue.end(end);
  await clock.advance(0);
  await ending;
  expect(journal.kept.map(({ record }) => record.kind)).toEqual(["callEvent", "message", "message", "ended"]);
  expect([records.messages, records.ends]).toEqual([[], []]);
  expect(clock.pending()).toBe(0);
});

test("after the journal has written its records, the next ones go to the store again", async () => {
  const { records, journal, queue, clock } = start();
  journal.isBroken = false;
  records.trouble = () => Promise.reject(new Error("away"));
  queue.message(message(0, "hello"));
  await clock.advance(5_000);
  expect(journal.kept).toHaveLength(1);
  journal.kept.length = 0;
  records.trouble = null;
  queue.message(message(1, "goodbye"));
  await queue.end(end);
  expect(records.messages.map(({ message: { text } }) => text)).toEqual(["goodbye"]);
  expect(records.ends).toHaveLength(1);
  expect(journal.kept).toEqual([]);
});

test("a store that never answers does not hold up the end", async () => {
  const { records, journal, queue, clock } = start();
  journal.isBroken = false;
  records.message = () => new Promise(() => {});
  queue.message(message(0, "stuck"));
  const ending = queue.end(end);
  await clock.advance(5_000);
  await ending;
  expect(journal.kept.map(({ record }) => record.kind)).toEqual(["message", "ended"]);
  expect(clock.pending()).toBe(0);
});

test("an outage at the hang-up loses no word, even when the disk takes nothing", async () => {
  const { records, queue, clock } = start();
  records.trouble = () => Promise.reject(new Error("away"));
  for (let i = 0; i < 20; i += 1) queue.message(message(i, `word ${String(i)}`));
  const ending = queue.end(end);
  await clock.advance(30_000);
  records.trouble = null;
  await clock.advance(3_000);
  await ending;
  expect(new Set(records.messages.map(({ message: { text } }) => text)).size).toBe(20);
  expect(records.ends).toHaveLength(1);
});

test("join and end outlast an outage of the database, in their order", async () => {
  const { records, queue, clock } = start();
  const order: string[] = [];
  let isAway = true;
  const write = (text: string) => async () => {
    if (isAway) throw new Error("away");
    order.push(text);
  };
  records.joined = write("joined");
  records.message = write("message");
  records.ended = write("ended");
  queue.joined({ joinedAt: new Date(0), clientVersion: null });
  queue.message(message(0, "hello"));
  await clock.advance(120_000);
  const ending = queue.end(end);
  await clock.advance(600_000);
  expect(order).toEqual([]);
  isAway = false;
  await clock.advance(3_000);
  await ending;
  expect(order).toEqual(["joined", "message", "ended"]);
});

test("a record is given up after an hour without store and journal, and the call says so before its end", async () => {
  const { records, queue, clock, logged } = start();
  records.message = () => Promise.reject(new Error("never"));
  queue.message(message(0, "lost"));
  queue.message(message(1, "lost as well"));
  const ending = queue.end(end);
  await clock.advance(2 * 3_610_000);
  await ending;
  expect(records.events.map(({ event: { type, extras } }) => [type, extras])).toEqual([
    ["records.lost", { records: 2 }],
  ]);
  expect(records.ends).toHaveLength(1);
  expect(logged.filter((text) => text === "a record could not be written and is lost")).toHaveLength(1);
  expect(clock.pending()).toBe(0);
});

test("what waits is bounded: call events go before messages, and the call says so", async () => {
  const { records, queue, logged } = start();
  let release = () => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  records.trouble = () => blocked;
  for (let i = 0; i < 500; i += 1) queue.message(message(i, "m"));
  for (let i = 0; i < 1_000; i += 1) queue.callEvent(event(String(i)));
  expect(logged).toEqual(["the store is too slow: records of a call are lost"]);
  release();
  await queue.end(end);
  expect(records.messages.length).toBe(500);
  expect(records.events.length).toBe(501);
  expect(records.events.at(-2)?.event.text).toBe("999");
  expect(records.events.at(-1)?.event).toMatchObject({ type: "records.lost", extras: { records: 500 } });
});

test("a slow store leaves what it cannot keep up with to the journal", async () => {
  const { records, journal, queue } = start();
  journal.isBroken = false;
  let release = () => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  records.trouble = () => blocked;
  for (let i = 0; i < 600; i += 1) queue.callEvent(event(String(i)));
  release();
  await queue.end(end);
  expect(records.events).toHaveLength(1);
  expect(journal.kept).toHaveLength(600);
});

test("token counts keep the first of each stage, and of those that wait only the latest is written", async () => {
  const { records, queue } = start();
  records.trouble = settle;
  for (const count of [5, 6, 7]) queue.tokensCounted("a", count);
  queue.tokensCounted("b", 9);
  queue.tokensCounted("a", 8);
  await queue.end(end);
  expect(records.tokenCounts).toEqual([
    { callId: "c", stageId: "a", initial: 5, latest: 5 },
    { callId: "c", stageId: "a", initial: 5, latest: 8 },
    { callId: "c", stageId: "b", initial: 9, latest: 9 },
  ]);
});

test("an event has its key and a failed tool its number, however often they are written", async () => {
  const { records, queue, clock } = start();
  const keys: string[] = [];
  records.callEvent = async (_id, _event, key) => {
    keys.push(key);
    if (keys.length < 3) throw new Error("the answer was lost");
  };
  queue.callEvent(event("once"));
  for (let i = 0; i < 2; i += 1) queue.toolFailed({ stageId: "s" });
  await clock.advance(5_000);
  await queue.end(end);
  expect(new Set(keys).size).toBe(1);
  expect(keys).toHaveLength(3);
  expect(records.toolFailures.map(({ failures }) => failures)).toEqual([1, 2]);
});

test("tokens of side threads that wait are replaced by later counts", async () => {
  const { records, queue } = start();
  const gate = Promise.withResolvers<void>();
  records.trouble = () => gate.promise;
  queue.callEvent(event("first"));
  for (const inputTokens of [1, 2, 3]) queue.sideTokensCounted({ inputTokens, outputTokens: 9 });
  gate.resolve();
  await queue.end(end);
  expect(records.sideTokens).toEqual([{ callId: "c", inputTokens: 3, outputTokens: 9 }]);
});

const snapshot = (text: string) => ({
  snapshot: { version: 1, state: { text } as never },
  use: [],
});

test("a snapshot follows the records that it knows of; of those that wait, the oldest and the newest are written", async () => {
  const { records, queue } = start();
  const gate = Promise.withResolvers<void>();
  records.trouble = () => gate.promise;
  const stored: string[] = [];
  queue.message(message(0, "first"));
  void queue.snapshot(snapshot("old")).then(() => stored.push("old"));
  queue.message(message(1, "second"));
  void queue.snapshot(snapshot("between")).then(() => stored.push("between"));
  void queue.snapshot(snapshot("new")).then(() => stored.push("new"));
  await settle();
  expect(stored).toEqual([]);
  gate.resolve();
  await queue.flush();
  await settle();
  expect(records.messages.map(({ message: { text } }) => text)).toEqual(["first", "second"]);
  expect(records.snapshots.map(({ record }) => record.snapshot.state)).toEqual([
    { text: "old" },
    { text: "new" },
  ]);
  expect(records.snapshots.map(({ record }) => record.counts.versions)).toEqual([1, 2]);
  expect(stored).toEqual(["old", "between", "new"]);
});

test("the journal takes no snapshot, and nothing waits for one that will not be stored", async () => {
  const { records, journal, queue, clock } = start();
  journal.isBroken = false;
  records.trouble = () => Promise.reject(new Error("away"));
  let isSettled = false;
  queue.message(message(0, "kept"));
  void queue.snapshot(snapshot("lost")).then(() => (isSettled = true));
  await clock.advance(10_000);
  await settle();
  expect(isSettled).toBe(true);
  expect(records.snapshots).toEqual([]);
});

test("another process counts the texts of a call on", async () => {
  const versions: number[] = [];
  const records = openMemoryRecords();
  const deps = {
    records: {
      ...records,
      message: async (_callId: string, _message: MessageRecord, version: number) =>
        void versions.push(version),
    },
    journal: openMemoryJournal(),
    clock: openManualClock(),
    logger: { warn: () => undefined, error: () => undefined },
  };
  const counts = { versions: 41, toolFailures: [], initialTokens: [] };
  const queue = new RecordQueue({ callId: "c", stageId: "s" }, deps, counts);
  queue.message(message(0, "next"));
  await queue.flush();
  expect(versions).toEqual([42]);
});

test("a record that fails is not written once another process has the call", async () => {
  const { records, queue, clock } = start();
  let tries = 0;
  records.trouble = () => {
    tries += 1;
    return Promise.reject(new Error("away"));
  };
  queue.message(message(0, "first"));
  await settle();
  expect(tries).toBe(1);
  queue.drop();
  records.trouble = () => {
    tries += 1;
    return Promise.resolve();
  };
  await clock.advance(10_000);
  await queue.flush();
  expect(tries).toBe(1);
  expect(records.messages).toEqual([]);
});
