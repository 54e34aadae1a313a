import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { VAD_WINDOW_SAMPLES, type VadEngine } from "../../ports/vad.ts";
import { VadRecord } from "../../ports/testing/vad-conformance.ts";
import { VAD_BATCH_WINDOWS, viewBatch, type ToWorker } from "./protocol.ts";
import { THREAD_RESTARTS } from "../../threads/restarts.ts";
import {
  openThreadedVad,
  VAD_BATCH_TIMEOUT_MS,
  VAD_BEHIND_REPORT_MS,
  VAD_LOAD_TIMEOUT_MS,
} from "./threaded-vad.ts";
import type { VadThreadListener } from "./vad-thread.ts";
import { VAD_STREAM_QUEUE_WINDOWS } from "./window-queue.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A thread that does what the test says, and a window's score is its first sample in thousandths. */
class ScriptedThread {
  readonly sent: ToWorker[] = [];
  isAbandoned = false;
  readonly listener: VadThreadListener;

  constructor(listener: VadThreadListener) {
    this.listener = listener;
  }

  get batches(): Extract<ToWorker, { type: "batch" }>[] {
    return this.sent.filter((message) => message.type === "batch");
  }

  send(message: ToWorker): void {
    this.sent.push(message);
  }

  abandon(): void {
    this.isAbandoned = true;
  }

  answer(index: number, type: "scored" | "batchFailed" = "scored"): void {
    const { count, buffer } = this.batches[index] ?? { count: 0, buffer: new ArrayBuffer(0) };
    const { scores, windows } = viewBatch(buffer);
    for (let row = 0; row < count; row++) scores[row] = (windows[row * VAD_WINDOW_SAMPLES] ?? 0) / 1000;
    this.listener.heard(
      type === "scored" ? { type, count, buffer } : { type, count, buffer, detail: "bad numbers" },
    );
  }
}

interface Opened {
  readonly engine: VadEngine;
  readonly threads: ScriptedThread[];
  readonly log: string[];
}

async function openScripted(): Promise<Opened> {
  const threads: ScriptedThread[] = [];
  const log: string[] = [];
  const opening = openThreadedVad(
    "scripted",
    (listener) => {
      const thread = new ScriptedThread(listener);
      threads.push(thread);
      return thread;
    },
    (message) => log.push(message),
  );
  threads[0]?.listener.heard({ type: "ready" });
  return { engine: await opening, threads, log };
}

function windowOf(value: number): Int16Array {
  return new Int16Array(VAD_WINDOW_SAMPLES).fill(value);
}

function last(threads: readonly ScriptedThread[]): ScriptedThread {
  const thread = threads.at(-1);
  if (thread === undefined) throw new Error("no thread was started");
  return thread;
}

describe("batches", () => {
  it("leave at once when the thread is idle, and gather while it is busy", async () => {
    const { engine, threads } = await openScripted();
    const records = Array.from({ length: 5 }, () => new VadRecord());
    const streams = records.map((record) => engine.open(record));
    for (const [index, stream] of streams.entries()) stream.push(windowOf(100 * index));
    const thread = last(threads);
    expect(thread.batches.map(({ count }) => count)).toEqual([1]);
    thread.answer(0);
    expect(thread.batches.map(({ count }) => count)).toEqual([1, 4]);
    thread.answer(1);
    expect(records.map(({ scores }) => scores[0]?.toFixed(1))).toEqual(["0.0", "0.1", "0.2", "0.3", "0.4"]);
  });

  it("of many streams leave 5 ms after the one before, or full", async () => {
    const { engine, threads } = await openScripted();
    const streams = Array.from({ length: 2 * VAD_BATCH_WINDOWS }, () => engine.open(new VadRecord()));
    const thread = last(threads);
    const counts = (): number[] => thread.batches.map(({ count }) => count);
    streams[0]?.push(windowOf(0));
    thread.answer(0);
    for (const stream of streams.slice(1, 4)) stream.push(windowOf(0));
    vi.advanceTimersByTime(4);
    expect(counts()).toEqual([1]);
    vi.advanceTimersByTime(1);
    expect(counts()).toEqual([1, 3]);
    thread.answer(1);
    for (const stream of streams.slice(4, 4 + VAD_BATCH_WINDOWS)) stream.push(windowOf(0));
    expect(counts()).toEqual([1, 3, VAD_BATCH_WINDOWS]);
    // After a silence, and after streams that have ended, nothing waits.
    thread.answer(2);
    vi.advanceTimersByTime(5);
    streams[0]?.push(windowOf(0));
    expect(counts()).toEqual([1, 3, VAD_BATCH_WINDOWS, 1]);
    for (const stream of streams.slice(1)) stream.close();
    thread.answer(3);
    vi.advanceTimersByTime(5);
    for (let window = 0; window < 2; window += 1) {
      streams[0]?.push(windowOf(0));
      thread.answer(4 + window);
    }
    expect(counts()).toEqual([1, 3, VAD_BATCH_WINDOWS, 1, 1, 1]);
  });

  it("run two ahead when they are full, and never three", async () => {
    const { engine, threads } = await openScripted();
    const streams = Array.from({ length: 3 * VAD_BATCH_WINDOWS }, () => engine.open(new VadRecord()));
    for (const stream of streams) stream.push(windowOf(0));
    const thread = last(threads);
    expect(thread.batches.map(({ count }) => count)).toEqual([1, VAD_BATCH_WINDOWS]);
    thread.answer(0);
    expect(thread.batches).toHaveLength(3);
  });

  it("hold one window of a stream, in its order", async () => {
    const { engine, threads } = await openScripted();
    const record = new VadRecord();
    const stream = engine.open(record);
    for (const value of [100, 200, 300]) stream.push(windowOf(value));
    for (const index of [0, 1, 2]) last(threads).answer(index);
    expect(record.scores.map((score) => score.toFixed(1))).toEqual(["0.1", "0.2", "0.3"]);
    expect(record.indexes).toEqual([0, 1, 2]);
  });

  it("that fail end the streams in them and no other", async () => {
    const { engine, threads } = await openScripted();
    const [inBatch, other] = [new VadRecord(), new VadRecord()];
    engine.open(inBatch).push(windowOf(0));
    engine.open(other).push(windowOf(500));
    last(threads).answer(0, "batchFailed");
    last(threads).answer(1);
    await Promise.resolve();
    expect(inBatch.failures.map(({ message }) => message)).toEqual([
      "voice activity detection failed: bad numbers",
    ]);
    expect(other.scores).toEqual([0.5]);
  });
});

describe("a stream", () => {
  it("that is too far behind goes on without its oldest windows, and the log says so once", async () => {
    const { engine, threads, log } = await openScripted();
    const [slow, other] = [new VadRecord(), new VadRecord()];
    const stream = engine.open(slow);
    // One window is at the thread, the rest wait; three of them find no room.
    for (let index = 0; index <= VAD_STREAM_QUEUE_WINDOWS + 3; index++) stream.push(windowOf(index));
    engine.open(other).push(windowOf(250));
    last(threads).answer(0);
    last(threads).answer(1);
    // The first window, three times its score, and the fifth.
    expect(slow.scores.map((score) => Math.round(score * 1_000))).toEqual([0, 0, 0, 0, 4]);
    expect(other.scores).toEqual([0.25]);
    expect(slow.failures).toEqual([]);
    last(threads).answer(2);
    vi.advanceTimersByTime(VAD_BEHIND_REPORT_MS);
    expect(log.filter((line) => line.includes("left out"))).toEqual([
      "voice activity detection is behind the calls: 3 windows of 32 ms were left out in 10 s",
    ]);
  });

  it("loses nothing when all calls bring a second of audio at once, after the main thread was held up", async () => {
    const { engine, threads, log } = await openScripted();
    const records = Array.from({ length: 250 }, () => new VadRecord());
    const streams = records.map((record) => engine.open(record));
    const [silent, loud] = [windowOf(0), windowOf(1_000)];
    for (let window = 0; window < 32; window++) {
      for (const stream of streams) stream.push(window === 31 ? loud : silent);
    }
    for (let batch = 0; batch < last(threads).batches.length; batch++) {
      last(threads).answer(batch);
      vi.advanceTimersByTime(10);
    }
    expect(new Set(records.map(({ scores }) => scores.length))).toEqual(new Set([32]));
    expect(records.every(({ scores, failures }) => scores.at(-1) === 1 && failures.length === 0)).toBe(true);
    vi.advanceTimersByTime(VAD_BEHIND_REPORT_MS);
    expect(log.filter((line) => line.includes("left out"))).toEqual([]);
  });

  it("that closes while windows that were left out are reported hears no more of them", async () => {
    const { engine, threads } = await openScripted();
    const scores: number[] = [];
    const stream = engine.open({
      scored: (index) => {
        scores.push(index);
        if (index === 2) stream.close();
      },
      failed: (error) => {
        throw error;
      },
    });
    for (let index = 0; index <= VAD_STREAM_QUEUE_WINDOWS + 5; index++) stream.push(windowOf(index));
    last(threads).answer(0);
    last(threads).answer(1);
    expect(scores).toEqual([0, 1, 2]);
  });

  it("that closes is forgotten by the thread, and its late score is not heard", async () => {
    const { engine, threads } = await openScripted();
    const record = new VadRecord();
    const stream = engine.open(record);
    stream.push(windowOf(0));
    stream.close();
    stream.close();
    last(threads).answer(0);
    expect(last(threads).sent.map(({ type }) => type)).toEqual(["batch", "forget"]);
    expect(record.scores).toEqual([]);
  });

  it("that closes before it hears of its failure hears nothing", async () => {
    const { engine, threads } = await openScripted();
    const record = new VadRecord();
    const stream = engine.open(record);
    last(threads).listener.ended("gone");
    stream.close();
    await Promise.resolve();
    expect(record.failures).toEqual([]);
  });
});

describe("a thread", () => {
  it("that ends fails its streams once; windows of new ones wait for the next thread", async () => {
    const { engine, threads, log } = await openScripted();
    const [before, after] = [new VadRecord(), new VadRecord()];
    const lost = engine.open(before);
    lost.push(windowOf(0));
    last(threads).listener.ended("crashed");
    lost.push(windowOf(0));
    engine.open(after).push(windowOf(750));
    await Promise.resolve();
    expect(before.failures).toHaveLength(1);
    expect(threads).toHaveLength(2);
    expect(last(threads).batches).toEqual([]);
    last(threads).listener.heard({ type: "ready" });
    last(threads).answer(0);
    expect(after.scores).toEqual([0.75]);
    expect(log).toHaveLength(1);
  });

  it("that ends again and again is restarted once a minute, and serves again when it loads", async () => {
    const { engine, threads, log } = await openScripted();
    expect(engine.unusable?.()).toBeNull();
    for (let life = 0; life <= THREAD_RESTARTS.restarts; life++) {
      last(threads).listener.heard({ type: "ready" });
      last(threads).listener.ended("crashed");
    }
    expect(threads).toHaveLength(1 + THREAD_RESTARTS.restarts);
    expect(engine.unusable?.()).toContain("gone: crashed");
    expect(log.at(-1)).toContain("started again in 60 s");
    const record = new VadRecord();
    engine.open(record).push(windowOf(0));
    await Promise.resolve();
    expect(record.failures).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_000);
    last(threads).listener.heard({ type: "unusable", detail: "no memory" });
    expect(engine.unusable?.()).toContain("gone: no memory");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(threads).toHaveLength(3 + THREAD_RESTARTS.restarts);
    last(threads).listener.heard({ type: "ready" });
    expect(engine.unusable?.()).toBeNull();
    const after = new VadRecord();
    engine.open(after).push(windowOf(750));
    last(threads).answer(0);
    expect(after.scores).toEqual([0.75]);
    const closing = engine.close();
    last(threads).listener.ended("it was told to");
    await closing;
  });

  it("that does not answer is given up, and what it says later is not heard", async () => {
    const { engine, threads } = await openScripted();
    const record = new VadRecord();
    engine.open(record).push(windowOf(0));
    await vi.advanceTimersByTimeAsync(VAD_BATCH_TIMEOUT_MS - 1);
    expect(record.failures).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(record.failures).toHaveLength(1);
    expect(threads[0]?.isAbandoned).toBe(true);
    threads[0]?.answer(0);
    expect(record.scores).toEqual([]);
    expect(threads).toHaveLength(2);
  });

  it("that cannot load its model, or not in time, refuses to open", async () => {
    const started: ScriptedThread[] = [];
    const open = (): Promise<VadEngine> =>
      openThreadedVad(
        "scripted",
        (listener) => {
          started.push(new ScriptedThread(listener));
          return last(started);
        },
        () => undefined,
      );
    const unusable = open();
    last(started).listener.heard({ type: "unusable", detail: "no such file" });
    await expect(unusable).rejects.toThrow("no such file");
    const slow = open().catch(String);
    await vi.advanceTimersByTimeAsync(VAD_LOAD_TIMEOUT_MS);
    expect(await slow).toContain("in time");
    expect(last(started).isAbandoned).toBe(true);
  });
});

describe("closing", () => {
  it("waits until the thread has finished, and no longer than the limit", async () => {
    const { engine, threads } = await openScripted();
    const record = new VadRecord();
    engine.open(record).push(windowOf(0));
    let closed = 0;
    void engine.close().then(() => (closed += 1));
    void engine.close().then(() => (closed += 1));
    await vi.advanceTimersByTimeAsync(0);
    expect(last(threads).sent.at(-1)).toEqual({ type: "finish" });
    last(threads).answer(0);
    await vi.advanceTimersByTimeAsync(VAD_BATCH_TIMEOUT_MS - 1);
    expect(closed).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(closed).toBe(2);
    expect(last(threads).isAbandoned).toBe(true);
    expect(threads).toHaveLength(1);
    expect(record.failures).toHaveLength(1);
  });

  it("ends with the thread", async () => {
    const { engine, threads } = await openScripted();
    const closing = engine.close();
    last(threads).listener.ended("the thread ended with code 0");
    await closing;
    expect(vi.getTimerCount()).toBe(0);
  });
});
