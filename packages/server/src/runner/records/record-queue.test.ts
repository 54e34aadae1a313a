import { expect, test } from "vitest";
import type { CallEventRecord, MessageRecord } from "../../call/effects.ts";
import type { EndedRecord } from "./call-records.ts";
import { RecordQueue } from "./record-queue.ts";
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
  latestInputTokens: null,
  eventLog: null,
};

function start() {
  const records = openMemoryRecords();
  const clock = openManualClock();
  const logged: string[] = [];
  const log = (_fields: unknown, text: string) => {
    logged.push(text);
  };
  const queue = new RecordQueue("c", records, clock, { warn: log, error: log });
  return { records, clock, queue, logged };
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

test("a record that cannot be written does not hold up the end", async () => {
  const { records, queue, clock, logged } = start();
  records.callEvent = () => Promise.reject(new Error("never"));
  queue.callEvent(event("bad"));
  await clock.advance(1_000);
  const ending = queue.end(end);
  await clock.advance(3_000);
  await ending;
  expect(records.ends.length).toBe(1);
  expect(logged).toContain("a record could not be written and is lost");
  expect(clock.pending()).toBe(0);
});

test("a store that never answers does not hold up the end either", async () => {
  const { records, queue, clock } = start();
  records.message = () => new Promise(() => {});
  queue.message(message(0, "stuck"));
  const ending = queue.end(end);
  await clock.advance(1_000);
  expect(records.ends.length).toBe(0);
  await clock.advance(3_000);
  await ending;
  expect(records.ends.length).toBe(1);
  expect(clock.pending()).toBe(0);
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

test("the end is given up after an hour, and nothing is left running", async () => {
  const { records, queue, clock, logged } = start();
  records.ended = () => Promise.reject(new Error("never"));
  const ending = queue.end(end);
  await clock.advance(3_610_000);
  await ending;
  expect(logged.at(-1)).toBe("a record could not be written and is lost");
  expect(clock.pending()).toBe(0);
});

test("what waits is bounded: call events go before messages", async () => {
  const { records, queue, logged } = start();
  let release = () => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  records.trouble = () => blocked;
  for (let i = 0; i < 500; i += 1) queue.message(message(i, "m"));
  for (let i = 0; i < 1_000; i += 1) queue.callEvent(event(String(i)));
  expect(logged.length).toBe(500);
  release();
  await queue.end(end);
  expect(records.messages.length).toBe(500);
  expect(records.events.length).toBe(500);
  expect(records.events.at(-1)?.event.text).toBe("999");
});
