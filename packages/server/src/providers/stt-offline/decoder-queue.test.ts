import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  DECODER_LOAD_TIMEOUT_MS,
  DECODER_MAX_UTTERANCE_MS,
  DECODER_QUEUE_UTTERANCES,
  DECODER_TIMEOUT_MS,
  DecoderQueue,
} from "./decoder-queue.ts";
import { THREAD_RESTARTS } from "../../threads/restarts.ts";
import type { QueueThreadListener } from "../thread-queue.ts";
import type { ToWorker } from "./protocol.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

class ScriptedThread {
  readonly sent: ToWorker[] = [];
  readonly listener: QueueThreadListener<string>;
  ends = 0;

  constructor(listener: QueueThreadListener<string>) {
    this.listener = listener;
  }

  send(id: number, samples: Int16Array): void {
    this.sent.push({ id, samples });
  }

  end(): Promise<void> {
    this.ends += 1;
    return Promise.resolve();
  }

  /** Answers what was sent last. */
  answer(text: string): void {
    this.listener.heard({ type: "answered", id: this.sent.at(-1)?.id ?? -1, answer: text });
  }
}

interface Opened {
  readonly queue: DecoderQueue;
  readonly threads: ScriptedThread[];
  readonly log: string[];
  readonly thread: () => ScriptedThread;
}

function start(): Opened & { readonly loading: Promise<string> } {
  const threads: ScriptedThread[] = [];
  const log: string[] = [];
  const queue = new DecoderQueue(
    (listener) => {
      const thread = new ScriptedThread(listener);
      threads.push(thread);
      return thread;
    },
    (message) => log.push(message),
  );
  const loading = queue.load().then(() => "loaded", String);
  const thread = (): ScriptedThread => {
    const last = threads.at(-1);
    if (last === undefined) throw new Error("no thread was started");
    return last;
  };
  return { queue, threads, log, thread, loading };
}

async function open(): Promise<Opened> {
  const opened = start();
  opened.thread().listener.heard({ type: "ready" });
  expect(await opened.loading).toBe("loaded");
  return opened;
}

/** An utterance whose length names it. */
function decode(queue: DecoderQueue, length: number, signal = new AbortController().signal): Promise<string> {
  return queue.decode(new Int16Array(length), signal).catch((error: unknown) => String(error));
}

describe("utterances", () => {
  it("are decoded one after the other, each with its own answer", async () => {
    const { queue, thread } = await open();
    const answers = [decode(queue, 1), decode(queue, 2)];
    expect(thread().sent.map(({ samples }) => samples.length)).toEqual([1]);
    thread().answer("one");
    expect(thread().sent.map(({ samples }) => samples.length)).toEqual([1, 2]);
    thread().answer("");
    expect(await Promise.all(answers)).toEqual(["one", ""]);
  });

  it("that were abandoned while waiting are not decoded; one that was under way frees the thread as ever", async () => {
    const { queue, thread } = await open();
    const [first, second] = [new AbortController(), new AbortController()];
    const answers = [decode(queue, 1, first.signal), decode(queue, 2, second.signal), decode(queue, 3)];
    first.abort();
    second.abort();
    thread().answer("too late");
    thread().answer("three");
    expect(thread().sent.map(({ samples }) => samples.length)).toEqual([1, 3]);
    expect(await Promise.all(answers)).toEqual([
      expect.stringContaining("abandoned"),
      expect.stringContaining("abandoned"),
      "three",
    ]);
    expect(await decode(queue, 4, AbortSignal.abort())).toContain("abandoned");
  });

  it("beyond the limit are refused", async () => {
    const { queue, thread } = await open();
    const taken = Array.from({ length: 1 + DECODER_QUEUE_UTTERANCES }, () => decode(queue, 1));
    expect(await decode(queue, 1)).toContain("too many");
    for (let index = 0; index < taken.length; index++) thread().answer("one");
    expect(new Set(await Promise.all(taken))).toEqual(new Set(["one"]));
  });

  it("longer than any phrase are not understood, without being decoded", async () => {
    const { queue, thread } = await open();
    expect(await decode(queue, DECODER_MAX_UTTERANCE_MS * 16 + 1)).toBe("");
    expect(thread().sent).toEqual([]);
  });

  it("that cannot be decoded fail alone", async () => {
    const { queue, thread } = await open();
    const answers = [decode(queue, 1), decode(queue, 2)];
    thread().listener.heard({ type: "failed", id: thread().sent[0]?.id ?? -1, detail: "odd audio" });
    thread().answer("two");
    expect(await Promise.all(answers)).toEqual([expect.stringContaining("odd audio"), "two"]);
  });
});

describe("a thread", () => {
  it("that ends costs the utterance that it had; the next thread takes the rest", async () => {
    const { queue, threads, thread, log } = await open();
    const answers = [decode(queue, 1), decode(queue, 2)];
    thread().listener.ended("crashed");
    expect(threads).toHaveLength(2);
    expect(thread().sent).toEqual([]);
    thread().listener.heard({ type: "ready" });
    thread().answer("two");
    expect(await Promise.all(answers)).toEqual([expect.stringContaining("crashed"), "two"]);
    expect(log).toHaveLength(1);
  });

  it("that does not answer is ended, and what it says later is not heard", async () => {
    const { queue, threads, thread } = await open();
    const answers = [decode(queue, 1), decode(queue, 2)];
    await vi.advanceTimersByTimeAsync(DECODER_TIMEOUT_MS - 1);
    expect(threads).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(threads.map(({ ends }) => ends)).toEqual([1, 0]);
    threads[0]?.answer("late");
    thread().listener.heard({ type: "ready" });
    thread().answer("two");
    expect(await Promise.all(answers)).toEqual([expect.stringContaining("in time"), "two"]);
  });

  it("that ends again and again is restarted once a minute, and decodes again when it loads", async () => {
    const { queue, threads, thread, log } = await open();
    for (let life = 0; life <= THREAD_RESTARTS.restarts; life++) {
      thread().listener.heard({ type: "ready" });
      thread().listener.ended("crashed");
    }
    expect(threads).toHaveLength(1 + THREAD_RESTARTS.restarts);
    expect(queue.unusable()).toContain("gone: crashed");
    expect(log.at(-1)).toContain("started again in 60 s");
    expect(await decode(queue, 1)).toContain("gone");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(threads).toHaveLength(2 + THREAD_RESTARTS.restarts);
    thread().listener.heard({ type: "ready" });
    expect(queue.unusable()).toBeNull();
    const answer = decode(queue, 1);
    thread().answer("one");
    expect(await answer).toBe("one");
    await queue.close();
  });

  it("that cannot load, or not in time, refuses to open", async () => {
    const unusable = start();
    unusable.thread().listener.heard({ type: "unusable", detail: "no dictionary" });
    expect(await unusable.loading).toContain("no dictionary");
    const slow = start();
    await vi.advanceTimersByTimeAsync(DECODER_LOAD_TIMEOUT_MS);
    expect(await slow.loading).toContain("in time");
    expect(slow.thread().ends).toBe(1);
    expect(slow.threads).toHaveLength(1);
  });
});

it("closing fails what is under way and waiting, ends the thread and leaves no timer", async () => {
  const { queue, thread } = await open();
  const answers = [decode(queue, 1), decode(queue, 2)];
  await queue.close();
  await queue.close();
  for (const answer of await Promise.all(answers)) expect(answer).toContain("closed");
  expect(await decode(queue, 3)).toContain("closed");
  expect(thread().ends).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});
