/**
 * The process of a streaming recogniser, for all calls. Each stream has a number that is used once. When the process is
 * lost, so are its streams: each utterance that is still open is then recognised from its beginning.
 */

import { ModelThread } from "../../threads/model-thread.ts";
import type { FromChild } from "../local-child/child-protocol.ts";
import type { LocalChild, StartLocalChild } from "../local-child/local-child.ts";
import { ANSWER_TIMEOUT_MS, LOAD_TIMEOUT_MS } from "../local-child/local-limits.ts";
import type { LoadOrder } from "../local-child/local-model.ts";
import type { ToStreamingChild } from "./streaming-protocol.ts";

/** Streams of all calls: two utterances of each of 500 calls, more than a process has calls by default. */
export const MAX_STREAMS = 1_000;

export interface StreamListener {
  partial(text: string): void;
  answered(text: string): void;
  /** The stream is gone; the process may have been lost. */
  failed(reason: string): void;
}

export interface StreamingLinkOptions {
  readonly name: string;
  readonly order: LoadOrder;
  readonly startChild: StartLocalChild;
  readonly answerTimeoutMs?: number;
  readonly log: (message: string) => void;
}

type Child = LocalChild<ToStreamingChild>;

const PROGRAM = new URL("./streaming-child.ts", import.meta.url);

export class StreamingLink {
  readonly #options: StreamingLinkOptions;
  readonly #thread: ModelThread<Child>;
  readonly #streams = new Map<number, StreamListener>();
  /** Those that wait for an answer. */
  readonly #finishing = new Set<number>();
  /** To be called when a process can work, or when none will soon. */
  readonly #waiting = new Set<() => void>();
  #nextId = 0;
  readonly unusable: () => string | null;

  constructor(options: StreamingLinkOptions) {
    this.#options = options;
    const { name, order, startChild, log } = options;
    this.#thread = new ModelThread<Child>({
      name,
      start: (run) =>
        startChild<ToStreamingChild, string>(PROGRAM, order, {
          heard: (message) => {
            if (run.isOver) return;
            if (message.type === "ready") run.ready();
            else if (message.type === "unusable") run.lost(message.detail);
            else this.#heard(message);
            if (message.type === "ready") this.#tellWaiting();
          },
          ended: (reason) => run.lost(reason),
        }),
      loadLimit: { ms: LOAD_TIMEOUT_MS, reason: "its model did not load in time" },
      discard: (child) => void child.end(),
      lost: (reason, unusable) => this.#lost(unusable ?? `${name} was lost: ${reason}`),
      log,
    });
    this.unusable = this.#thread.unusable;
  }

  load(): Promise<void> {
    return this.#thread.load();
  }

  /** Whether a stream can be opened now. */
  get isReady(): boolean {
    return this.#thread.ready !== null;
  }

  /** Calls back once, when a process can work or none will soon. Returns what cancels it. */
  whenReady(tell: () => void): () => void {
    this.#waiting.add(tell);
    return () => this.#waiting.delete(tell);
  }

  /** Null: there is no process now, or there are too many streams. */
  open(listener: StreamListener): number | null {
    if (!this.isReady || this.#streams.size >= MAX_STREAMS) return null;
    const id = this.#nextId;
    this.#nextId += 1;
    this.#streams.set(id, listener);
    return id;
  }

  push(id: number, samples: Int16Array): void {
    if (this.#streams.has(id)) this.#thread.ready?.send({ type: "push", id, samples });
  }

  finish(id: number): void {
    if (!this.#streams.has(id)) return;
    this.#finishing.add(id);
    this.#thread.ready?.send({ type: "finish", id });
    if (!this.#thread.hasLimit) this.#watch();
  }

  drop(id: number): void {
    this.#finishing.delete(id);
    if (!this.#streams.delete(id)) return;
    if (this.#finishing.size === 0) this.#thread.clearLimit();
    this.#thread.ready?.send({ type: "drop", id });
  }

  async close(): Promise<void> {
    const child = this.#thread.stop();
    this.#lost(`${this.#options.name} was closed`);
    await child?.end();
  }

  #heard(message: Exclude<FromChild<string>, { type: "ready" | "unusable" }>): void {
    const listener = this.#streams.get(message.id);
    if (message.type !== "partial") {
      this.#streams.delete(message.id);
      this.#finishing.delete(message.id);
    }
    this.#watch();
    if (message.type === "partial") listener?.partial(message.text);
    else if (message.type === "answered") listener?.answered(message.answer);
    else listener?.failed(message.detail);
  }

  /** A process that says nothing while an answer is due hangs. */
  #watch(): void {
    if (this.#finishing.size === 0) {
      this.#thread.clearLimit();
      return;
    }
    const ms = this.#options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
    this.#thread.limit({ ms, reason: "it did not answer in time" });
  }

  #lost(reason: string): void {
    const lost = [...this.#streams.values()];
    this.#streams.clear();
    this.#finishing.clear();
    for (const listener of lost) listener.failed(reason);
    if (this.unusable() !== null) this.#tellWaiting();
  }

  #tellWaiting(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const tell of waiting) tell();
  }
}
