import { describe, expect, it } from "vitest";
import type { Piece } from "./pieces.ts";
import { MAX_REQUESTS, MAX_UNREAD_MS, SENTENCE_GAP_MS, SpeechQueue, type SpeechJob } from "./queue.ts";

const RATE_HZ = 1_000;
const second = new Int16Array(RATE_HZ).fill(1);

function piece(text: string, from = 0, endsSentence = false): Piece {
  return { text, offsets: Array.from(text, (_char, index) => from + index), endsSentence };
}

function open() {
  const spoken: { id: number; voice: string; text: string }[] = [];
  const queue = new SpeechQueue();
  queue.speakWith((id, voice, text) => spoken.push({ id, voice, text }));
  queue.ready(RATE_HZ);
  return { queue, spoken, last: () => spoken.at(-1)?.id ?? 0 };
}

function readAll(job: SpeechJob) {
  const parts = [];
  for (let part = job.take(); ; part = job.take()) {
    if (typeof part === "string") return { parts, state: part };
    parts.push(part);
  }
}

describe("requests at one process", () => {
  it("take turns piece by piece, in order", () => {
    const { queue, spoken, last } = open();
    queue.add("v", [piece("a1"), piece("a2"), piece("a3")]);
    queue.add("w", [piece("b1")]);
    queue.add("v", [piece("c1"), piece("c2")]);
    for (let i = 0; i < 6; i += 1) queue.done(last());
    expect(spoken.map(({ text }) => text)).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
    expect(spoken[1]?.voice).toBe("w");
  });

  it("get words in their own text and time, each once, and pauses after sentences", () => {
    const { queue, last } = open();
    const job = queue.add("v", [piece("One two. ", 0, true), piece("x y", 20)]);
    queue.word(last(), 0, 0);
    queue.word(last(), 0, 10);
    queue.word(last(), 3, 400);
    queue.word(last(), 99, 500);
    queue.audio(last(), second);
    queue.done(last());
    queue.word(last(), 2, 250);
    queue.audio(last(), second);
    expect(readAll(job).state).toBe("pending");
    queue.done(last());
    expect(readAll(job)).toEqual({ parts: [], state: "ended" });
  });

  it("keep word times in the audio of the whole request", () => {
    const { queue, last } = open();
    const job = queue.add("v", [piece("One two. ", 0, true), piece("x y", 20)]);
    queue.word(last(), 3, 400);
    queue.audio(last(), second);
    queue.done(last());
    queue.word(last(), 2, 250);
    queue.done(last());
    expect(readAll(job).parts.filter((part) => part.type === "word")).toEqual([
      { type: "word", textOffset: 4, atMs: 400 },
      { type: "word", textOffset: 22, atMs: 1_000 + SENTENCE_GAP_MS + 250 },
    ]);
  });

  it("are forgotten when dropped, and late frames with them", () => {
    const { queue, spoken, last } = open();
    const dropped = queue.add("v", [piece("a1"), piece("a2")]);
    const other = queue.add("v", [piece("b1")]);
    dropped.drop();
    queue.audio(last(), second);
    queue.done(last());
    expect(dropped.take()).toBe("pending");
    queue.audio(1, second);
    expect(other.take()).toBe("pending");
    queue.audio(last(), second);
    queue.done(last());
    expect(readAll(other)).toMatchObject({ parts: [{ type: "audio" }], state: "ended" });
    expect(spoken.map(({ text }) => text)).toEqual(["a1", "b1"]);
  });

  it("wait while their reader does not read", () => {
    const { queue, spoken, last } = open();
    const slow = queue.add("v", [piece("a1"), piece("a2")]);
    queue.audio(last(), new Int16Array((RATE_HZ * MAX_UNREAD_MS) / 1_000));
    queue.done(last());
    queue.add("v", [piece("b1")]);
    queue.done(last());
    expect(spoken.map(({ text }) => text)).toEqual(["a1", "b1"]);
    slow.take();
    expect(spoken.at(-1)?.text).toBe("a2");
  });

  it("fail alone when the process is lost, and together when it does not come back", () => {
    const { queue, spoken, last } = open();
    const [first, next] = [queue.add("v", [piece("a1")]), queue.add("v", [piece("b1")])];
    queue.audio(last(), second);
    queue.lost(new Error("gone"));
    expect(first.take()).toMatchObject({ type: "audio" });
    expect(() => first.take()).toThrow("gone");
    expect(next.take()).toBe("pending");
    queue.ready(RATE_HZ);
    expect(spoken.at(-1)?.text).toBe("b1");
    const waiting = queue.add("v", [piece("c1")]);
    queue.lost(new Error("gone again"));
    queue.lost(new Error("cannot start"));
    expect(() => next.take()).toThrow("gone again");
    expect(() => waiting.take()).toThrow("cannot start");
  });

  it("fail when refused, and let the next one speak", () => {
    const { queue, spoken, last } = open();
    const [first] = [queue.add("v", [piece("a1"), piece("a2")]), queue.add("v", [piece("b1")])];
    queue.refused(last(), "no such voice");
    expect(() => first.take()).toThrow("no such voice");
    expect(spoken.map(({ text }) => text)).toEqual(["a1", "b1"]);
  });

  it("are bounded, and refused after the close", () => {
    const { queue } = open();
    const jobs = Array.from({ length: MAX_REQUESTS }, () => queue.add("v", [piece("a")]));
    expect(() => queue.add("v", [piece("a")])).toThrow("too many requests");
    jobs[5]?.drop();
    jobs[5]?.drop();
    queue.add("v", [piece("a")]);
    expect(() => queue.add("v", [piece("a")])).toThrow("too many requests");
    queue.close();
    queue.close();
    expect(() => jobs[0]?.take()).toThrow("closed");
    expect(() => queue.add("v", [piece("a")])).toThrow("closed");
  });
});
