import { expect, it } from "vitest";
import { IDLE_IN_TRANSACTION_LIMIT_MS } from "../database/transaction-limit.ts";
import {
  EMBEDDED_SETTINGS as reset,
  FOREIGN_TRANSACTION_LIMIT_MS,
  MAXIMUM_WAITING_GROUPS,
  Turns,
} from "./turns.ts";

/** Messages of a client, as the documentation of the protocol defines them. */
const serialize = {
  startup: (): Buffer => {
    const body = Buffer.from("\0\u0003\0\0user\0postgres\0\0", "latin1");
    return Buffer.concat([lengthOf(body), body]);
  },
  query: (text: string): Buffer => {
    const body = Buffer.from(`${text}\0`, "latin1");
    return Buffer.concat([Buffer.from("Q"), lengthOf(body), body]);
  },
  end: (): Buffer => Buffer.concat([Buffer.from("X"), lengthOf(Buffer.alloc(0))]),
};

function lengthOf(body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + body.byteLength);
  return length;
}

/** Runs simple queries: BEGIN, COMMIT and ROLLBACK change the state, all others are only recorded. */
function fakeBackend(): {
  readonly turns: Turns;
  readonly executed: string[];
  readonly answered: number[];
  readonly expired: number[];
  readonly timers: { readonly delayMs: number; readonly fire: () => void; cancelled: boolean }[];
} {
  const executed: string[] = [];
  const answered: number[] = [];
  const expired: number[] = [];
  const timers: { delayMs: number; fire: () => void; cancelled: boolean }[] = [];
  let status = "I";
  const turns = new Turns({
    execute: (bytes) => {
      const text = Buffer.from(bytes).toString("latin1").slice(5).split("\0")[0] ?? "";
      executed.push(text);
      if (text === "BEGIN") status = "T";
      if (text === "COMMIT" || text === "ROLLBACK") status = "I";
      return new Uint8Array(Buffer.from(`Z\0\0\0\u0005${status}`, "latin1"));
    },
    answer: (connectionId) => answered.push(connectionId),
    end: (connectionId) => expired.push(connectionId),
    after: (delayMs, fire) => {
      const timer = { delayMs, fire, cancelled: false };
      timers.push(timer);
      return () => {
        timer.cancelled = true;
      };
    },
  });
  return { turns, executed, answered, expired, timers };
}

function start(turns: Turns, ...ids: number[]): void {
  for (const id of ids) {
    turns.open(id, false);
    turns.receive(id, serialize.startup());
  }
}

it("greets a connection without asking the backend", () => {
  const { turns, executed, answered } = fakeBackend();
  start(turns, 1);
  turns.run();
  expect(executed).toEqual([]);
  expect(answered).toEqual([1]);
});

it("runs first come, first served, and a transaction without anything between", () => {
  const { turns, executed } = fakeBackend();
  start(turns, 1, 2, 3);
  turns.receive(1, serialize.query("BEGIN"));
  turns.receive(2, serialize.query("b1"));
  turns.receive(3, serialize.query("c1"));
  turns.receive(1, serialize.query("a1"));
  turns.run();
  expect(executed).toEqual(["BEGIN", "a1"]);
  turns.receive(2, serialize.query("b2"));
  turns.run();
  expect(executed).toEqual(["BEGIN", "a1"]);
  turns.receive(1, serialize.query("COMMIT"));
  turns.receive(1, serialize.query("a2"));
  turns.run();
  expect(executed).toEqual(["BEGIN", "a1", "COMMIT", "b1", "c1", "b2", "a2"]);
});

it("puts together what comes in pieces and takes apart what comes together", () => {
  const { turns, executed } = fakeBackend();
  const bytes = Buffer.concat([serialize.startup(), serialize.query("one"), serialize.query("two")]);
  turns.open(1, false);
  for (const byte of bytes) turns.receive(1, new Uint8Array([byte]));
  turns.run();
  expect(executed).toEqual(["one", "two"]);
  const twice = Buffer.concat([serialize.query("three"), serialize.query("four")]);
  turns.receive(1, twice);
  turns.run();
  expect(executed).toEqual(["one", "two", "three", "four"]);
});

it("rolls back what a connection leaves open and lets the next one run", () => {
  const { turns, executed } = fakeBackend();
  start(turns, 1, 2);
  turns.receive(1, serialize.query("BEGIN"));
  turns.receive(2, serialize.query("b1"));
  turns.run();
  turns.close(1);
  turns.run();
  expect(executed).toEqual(["BEGIN", "ROLLBACK", "b1"]);
});

it("takes a goodbye as the end of the connection", () => {
  const { turns, executed } = fakeBackend();
  start(turns, 1, 2);
  turns.receive(1, serialize.query("BEGIN"));
  turns.run();
  turns.receive(1, serialize.end());
  turns.receive(2, serialize.query("b1"));
  turns.run();
  expect(executed).toEqual(["BEGIN", "ROLLBACK", "b1"]);
});

it("drops waiting queries of a closed connection", () => {
  const { turns, executed } = fakeBackend();
  start(turns, 1, 2);
  turns.receive(1, serialize.query("a1"));
  turns.receive(2, serialize.query("b1"));
  turns.close(1);
  turns.run();
  expect(executed).toEqual(["b1"]);
});

it("rolls back a transaction that stands still, and only that one", () => {
  const { turns, executed, expired, timers } = fakeBackend();
  start(turns, 1, 2);
  turns.receive(1, serialize.query("BEGIN"));
  turns.run();
  turns.receive(1, serialize.query("a1"));
  turns.run();
  expect(timers.map(({ delayMs, cancelled }) => [delayMs, cancelled])).toEqual([
    [IDLE_IN_TRANSACTION_LIMIT_MS, true],
    [IDLE_IN_TRANSACTION_LIMIT_MS, false],
  ]);
  turns.receive(2, serialize.query("b1"));
  timers.at(-1)?.fire();
  expect(executed).toEqual(["BEGIN", "a1", "ROLLBACK", "b1"]);
  expect(expired).toEqual([1]);
  expect(timers.at(-1)?.cancelled).toBe(true);
});

it("resets the session after another process, before other connections and when it disconnects", () => {
  const { turns, executed } = fakeBackend();
  start(turns, 1);
  turns.open(2, true);
  turns.receive(2, serialize.startup());
  turns.receive(2, serialize.query("f1"));
  turns.receive(2, serialize.query("f2"));
  turns.receive(1, serialize.query("a1"));
  turns.receive(1, serialize.query("a2"));
  turns.run();
  expect(executed).toEqual(["f1", "f2", "DISCARD ALL", reset, "a1", "a2"]);
  executed.length = 0;
  turns.receive(2, serialize.query("BEGIN"));
  turns.run();
  turns.receive(2, serialize.end());
  expect(executed).toEqual(["BEGIN", "ROLLBACK", "DISCARD ALL", reset]);
});

it("ends a transaction of another process that never stands still", () => {
  const { turns, executed, expired, timers } = fakeBackend();
  start(turns, 1);
  turns.open(2, true);
  turns.receive(2, serialize.startup());
  turns.receive(2, serialize.query("BEGIN"));
  turns.run();
  turns.receive(2, serialize.query("f1"));
  turns.receive(1, serialize.query("a1"));
  turns.run();
  const whole = timers.filter(({ delayMs }) => delayMs === FOREIGN_TRANSACTION_LIMIT_MS);
  expect(whole.map(({ cancelled }) => cancelled)).toEqual([false]);
  whole[0]?.fire();
  expect(executed.slice(-4)).toEqual(["ROLLBACK", "DISCARD ALL", reset, "a1"]);
  expect(expired).toEqual([2]);
  expect(timers.every(({ cancelled }) => cancelled)).toBe(true);
});

it("ends a connection of another process that asks without waiting, and drops what it still says", () => {
  const { turns, executed, expired } = fakeBackend();
  turns.open(1, true);
  turns.receive(1, serialize.startup());
  for (let count = 0; count <= MAXIMUM_WAITING_GROUPS; count += 1) turns.receive(1, serialize.query("f"));
  turns.receive(1, serialize.query("late"));
  turns.run();
  expect(expired).toEqual([1]);
  expect(executed).toEqual([]);
});
