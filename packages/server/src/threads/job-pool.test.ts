import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BusyError } from "../pacing/busy.ts";
import { JobLostError, JobPool } from "./job-pool.ts";
import type { FromJobThread, ToJobThread } from "./job-protocol.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const LIMIT_MS = 250;

function open() {
  const threads: { sent: ToJobThread[]; ends: number; say(message: FromJobThread): void; crash(): void }[] =
    [];
  const log: string[] = [];
  const pool = new JobPool({
    log: (message) => log.push(message),
    start: (listener) => {
      const sent: ToJobThread[] = [];
      const thread = {
        sent,
        ends: 0,
        say: (message: FromJobThread) => listener.heard(message),
        crash: () => listener.ended("out of memory"),
      };
      threads.push(thread);
      return {
        send: (message) => void sent.push(message),
        end: async () => {
          thread.ends += 1;
        },
      };
    },
  });
  const thread = (index: number) => {
    const found = threads[index];
    if (found === undefined) throw new Error(`there is no thread ${String(index)}`);
    return found;
  };
  /** The outcome of a job, once it is known. */
  const run = (accountId: string, input: unknown = accountId) => {
    const outcome: { value?: unknown; error?: unknown } = {};
    pool.run({ accountId, module: new URL("file:///job.ts"), input, limitMs: LIMIT_MS }).then(
      (value) => (outcome.value = value),
      (error: unknown) => (outcome.error = error),
    );
    return outcome;
  };
  const answer = async (index: number, output: unknown = "done") => {
    const { id } = thread(index).sent.at(-1) ?? { id: -1 };
    thread(index).say({ type: "began", id });
    thread(index).say({ type: "done", id, output });
    await vi.advanceTimersByTimeAsync(0);
  };
  const inputs = (index: number) => thread(index).sent.map(({ input }) => input);
  return { pool, threads, thread, log, run, answer, inputs };
}

it("starts no thread before the first job, and the second one for another account", async () => {
  const { threads, thread, run, answer, inputs } = open();
  expect(threads).toHaveLength(0);
  const first = run("a", "a1");
  run("a", "a2");
  expect(threads).toHaveLength(1);
  thread(0).say({ type: "ready" });
  expect([inputs(0), threads.length]).toEqual([["a1"], 1]);
  run("b", "b1");
  expect(threads).toHaveLength(2);
  thread(1).say({ type: "ready" });
  expect(inputs(1)).toEqual(["b1"]);
  await answer(0, "one");
  expect(first).toEqual({ value: "one" });
  expect(inputs(0)).toEqual(["a1", "a2"]);
  run("c", "c1");
  expect(threads).toHaveLength(2);
  await answer(1);
  expect(inputs(1)).toEqual(["b1", "c1"]);
});

describe("a flood of one account", () => {
  it("has one thread, a bounded queue and a clear refusal, and does not delay others", async () => {
    const { threads, thread, run, answer, inputs } = open();
    const flood = Array.from({ length: 200 }, (_, index) => run("a", index));
    thread(0).say({ type: "ready" });
    await vi.advanceTimersByTimeAsync(0);
    const refused = flood.filter(({ error }) => error !== undefined);
    expect(refused).toHaveLength(200 - 32);
    for (const { error } of refused) expect(error).toBeInstanceOf(BusyError);
    const other = run("b");
    thread(1).say({ type: "ready" });
    await answer(1);
    expect(other).toEqual({ value: "done" });
    expect([threads.length, inputs(0)]).toEqual([2, [0]]);
  });

  it("is refused when it has waited for too long", async () => {
    const { thread, run } = open();
    run("a");
    const waiting = run("a");
    thread(0).say({ type: "ready" });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(waiting).toEqual({});
    await vi.advanceTimersByTimeAsync(1);
    expect(waiting.error).toBeInstanceOf(BusyError);
  });
});

describe("a thread", () => {
  it("that exceeds the limit of a job is ended and started again, for the next job", async () => {
    const { threads, thread, log, run, answer } = open();
    const hostile = run("a");
    const next = run("a");
    thread(0).say({ type: "ready" });
    // Loading the module does not count.
    await vi.advanceTimersByTimeAsync(LIMIT_MS * 2);
    thread(0).say({ type: "began", id: 0 });
    await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
    expect([thread(0).ends, hostile]).toEqual([0, {}]);
    await vi.advanceTimersByTimeAsync(1);
    expect(thread(0).ends).toBe(1);
    expect(hostile.error).toBeInstanceOf(JobLostError);
    await vi.advanceTimersByTimeAsync(50);
    expect(threads).toHaveLength(2);
    thread(1).say({ type: "ready" });
    await answer(1);
    expect(next).toEqual({ value: "done" });
    expect(log).toEqual([]);
  });

  it("that crashes costs one job, again and again, and other accounts nothing", async () => {
    const { thread, log, run, answer } = open();
    for (let count = 0; count < 20; count += 1) {
      const lost = run("a");
      thread(count).say({ type: "ready" });
      await vi.advanceTimersByTimeAsync(0);
      thread(count).crash();
      await vi.advanceTimersByTimeAsync(5_000);
      expect(lost.error).toBeInstanceOf(JobLostError);
    }
    expect(log).toHaveLength(20);
    const other = run("b");
    thread(20).say({ type: "ready" });
    await answer(20);
    expect(other).toEqual({ value: "done" });
  });

  it("that does not start is reported until one does", async () => {
    const { pool, thread, run, answer } = open();
    expect(pool.degraded()).toBeNull();
    const waiting = run("a");
    thread(0).crash();
    expect(pool.degraded()).toContain("out of memory");
    await vi.advanceTimersByTimeAsync(50);
    thread(1).say({ type: "ready" });
    expect(pool.degraded()).toBeNull();
    await answer(1);
    expect(waiting).toEqual({ value: "done" });
  });

  it("that reports a failure goes on with the next job", async () => {
    const { thread, threads, run, answer } = open();
    const [first, second] = [run("a"), run("a")];
    thread(0).say({ type: "ready" });
    thread(0).say({ type: "failed", id: 0, detail: "no such module" });
    await answer(0);
    expect(first.error).toEqual(new Error("a check failed: no such module"));
    expect([second, threads.length]).toEqual([{ value: "done" }, 1]);
  });
});

it("closing fails what runs and waits, ends the threads and leaves no timer", async () => {
  const { pool, thread, run } = open();
  const jobs = [run("a"), run("a")];
  thread(0).say({ type: "ready" });
  await pool.close();
  for (const { error } of jobs) expect(String(error)).toContain("closed");
  expect([thread(0).ends, vi.getTimerCount()]).toEqual([1, 0]);
  const late = run("a");
  await vi.advanceTimersByTimeAsync(0);
  expect(String(late.error)).toContain("closed");
});
