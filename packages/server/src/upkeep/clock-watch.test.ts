import pino from "pino";
import { expect, test } from "vitest";
import { watchClock } from "./clock-watch.ts";

function messageOf(line: string): string {
  const { msg } = JSON.parse(line) as { readonly msg: string };
  return msg;
}

const HOUR_MS = 3_600_000;

function start() {
  const clocks = { aheadMs: 0, elapsedMs: 0, reads: 0, isAway: false };
  const logged: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void logged.push(messageOf(line)) });
  const watch = watchClock({
    readClocks: async () => {
      clocks.reads += 1;
      if (clocks.isAway) throw new Error("away");
      return { machineMs: 1_000 + clocks.aheadMs, databaseMs: 1_000 };
    },
    logger: log,
    elapsedMs: () => clocks.elapsedMs,
  });
  return { clocks, watch, logged };
}

test("one comparison serves the sweeps of half a minute", async () => {
  const { clocks, watch } = start();
  expect(await Promise.all([watch.agrees(), watch.agrees()])).toEqual([true, true]);
  expect(clocks.reads).toBe(1);
  clocks.elapsedMs = 30_000;
  expect(await watch.agrees()).toBe(true);
  expect(clocks.reads).toBe(2);
});

test("a clock that drifts is reported once with both times, and once when it is right again", async () => {
  const { clocks, watch, logged } = start();
  for (const aheadMs of [0, HOUR_MS, HOUR_MS, -HOUR_MS, 0, 0]) {
    clocks.aheadMs = aheadMs;
    clocks.elapsedMs += 60_000;
    expect(await watch.agrees()).toBe(aheadMs === 0);
    expect(watch.degraded() === null).toBe(aheadMs === 0);
  }
  expect(logged).toEqual([
    "The clock of this machine (1970-01-01T01:00:01.000Z) differs from the clock of the database " +
      "(1970-01-01T00:00:01.000Z) by more than five minutes: set the wrong one, for example by NTP. " +
      "Until then this node deletes nothing by its age.",
    "the clocks of machine and database agree again",
  ]);
});

test("a failed comparison is made again", async () => {
  const { clocks, watch } = start();
  clocks.isAway = true;
  await expect(watch.agrees()).rejects.toThrow("away");
  clocks.isAway = false;
  expect(await watch.agrees()).toBe(true);
});
