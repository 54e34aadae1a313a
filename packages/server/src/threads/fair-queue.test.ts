import { expect, it } from "vitest";
import { FairQueue } from "./fair-queue.ts";

const queueOf = (jobs: readonly string[], limits = { waiting: 10, waitingOfAccount: 4 }) => {
  const queue = new FairQueue<{ readonly accountId: string; readonly name: string }>(limits);
  const added = jobs.map((name) => queue.add({ accountId: name.charAt(0), name }));
  return { queue, added };
};

it("gives the accounts their turns, and each one job at a time", () => {
  const { queue } = queueOf(["a1", "a2", "a3", "b1", "b2", "c1"]);
  expect([queue.take(), queue.take(), queue.take()].map((job) => job?.name)).toEqual(["a1", "b1", "c1"]);
  expect([queue.hasNext, queue.take()]).toEqual([false, null]);
  queue.done("b");
  expect(queue.take()?.name).toBe("b2");
  queue.done("a");
  queue.done("b");
  expect(queue.take()?.name).toBe("a2");
  queue.done("a");
  expect([queue.take()?.name, queue.take()]).toEqual(["a3", null]);
});

it("takes a bounded number of jobs, in all and of each account", () => {
  const { added } = queueOf(["a1", "a2", "a3", "a4", "a5", "b1", "b2", "b3", "b4", "b5", "c1", "c2", "c3"]);
  expect(added.map((taken) => (taken ? "+" : "-")).join("")).toBe("++++-++++-++-");
});

it("forgets jobs that no longer wait", () => {
  const { queue } = queueOf(["a1", "a2", "b1"], { waiting: 3, waitingOfAccount: 3 });
  const first = queue.take();
  if (first === null) throw new Error("no job");
  queue.remove(first);
  expect(queue.removeAll().map(({ name }) => name)).toEqual(["b1", "a2"]);
  expect(queue.hasNext).toBe(false);
  expect(["a1", "a2", "a3", "a4"].map((name) => queue.add({ accountId: "x", name }))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
