import { expect, it } from "vitest";
import { RepeatedLines } from "./repeated-lines.ts";

/** A clock of one minute after the other. */
function open() {
  let timers: { fire: () => void }[] = [];
  const lines = new RepeatedLines({
    after: (_delayMs, fire) => {
      const timer = { fire };
      timers.push(timer);
      return () => void (timers = timers.filter((other) => other !== timer));
    },
  });
  const written: string[] = [];
  const say = (key: string, text = key) => lines.say(key, (more) => written.push(`${text} ${String(more)}`));
  const minutePasses = () => {
    const due = timers;
    timers = [];
    for (const { fire } of due) fire();
  };
  return { lines, say, written, minutePasses, timers: () => timers.length };
}

it("writes the first line at once, and the others of a minute as one with their number", () => {
  const { say, written, minutePasses } = open();
  for (let count = 0; count < 1_000; count += 1) say("the store is too slow", `slow ${String(count)}`);
  expect(written).toEqual(["slow 0 0"]);
  minutePasses();
  expect(written).toEqual(["slow 0 0", "slow 999 999"]);
});

it("writes one line a minute while it goes on, and the next at once when it had stopped", () => {
  const { say, written, minutePasses, timers } = open();
  say("a");
  say("a");
  minutePasses();
  say("a");
  expect(written).toEqual(["a 0", "a 1"]);
  minutePasses();
  expect(written).toEqual(["a 0", "a 1", "a 1"]);
  minutePasses();
  expect(timers()).toBe(0);
  say("a");
  expect(written).toEqual(["a 0", "a 1", "a 1", "a 0"]);
});

it("counts different lines apart, up to a limit", () => {
  const { say, written, minutePasses } = open();
  say("a");
  say("b");
  expect(written).toEqual(["a 0", "b 0"]);
  for (let count = 0; count < 10_000; count += 1) say(`made up ${String(count)}`);
  expect(written.length).toBeLessThan(600);
  const before = written.length;
  minutePasses();
  expect(written.slice(before)).toEqual([expect.stringMatching(/^made up 9999 9\d\d\d$/)]);
});

it("writes what was counted when the service ends, and leaves no timer", () => {
  const { lines, say, written, timers } = open();
  say("a");
  say("a");
  say("b");
  lines.flush();
  expect([written, timers()]).toEqual([["a 0", "b 0", "a 1"], 0]);
});
