/**
 * The engine around the scoring thread: adaptive batches, bounded queues, and one thread's end never more than one
 * failure per stream.
 *
 * A batch leaves at once when the thread is idle. While one is under way windows gather, and a second batch is sent
 * ahead only when it is full: the thread then never waits for the main thread under load, and never gets small batches
 * that it would pay for twice.
 */

import { VAD_WINDOW_SAMPLES, type VadEngine, type VadListener, type VadStream } from "../../ports/vad.ts";
import { ModelThread } from "../../threads/model-thread.ts";
import type { Run } from "../../threads/supervisor.ts";
import { createBatchBuffer, VAD_BATCH_WINDOWS, viewBatch, type FromWorker } from "./protocol.ts";
import type { StartVadThread, VadThread } from "./vad-thread.ts";
import { WindowQueue } from "./window-queue.ts";

/** Limit of batches at the thread: one that is being scored and one behind it. */
const VAD_BATCHES_IN_FLIGHT = 2;

/** Limit from start to a loaded model: 0.1 s here; a minute allows for a cold disk. */
export const VAD_LOAD_TIMEOUT_MS = 60_000;

/** Limit of one batch, which takes 1 ms; a slower thread counts as lost. */
export const VAD_BATCH_TIMEOUT_MS = 10_000;

const BATCH_LIMIT = { ms: VAD_BATCH_TIMEOUT_MS, reason: "it did not answer in time" };

interface OpenStream {
  readonly listener: VadListener;
  scoredCount: number;
  /** True: its listener is about to be notified of a failure. */
  failed: boolean;
}

class ThreadedVad implements VadEngine {
  readonly name: string;
  readonly #thread: ModelThread<VadThread>;
  readonly #streams = new Map<number, OpenStream>();
  readonly #queue = new WindowQueue();
  readonly #spareBuffers: ArrayBuffer[] = [];
  /** Batches at the current thread. */
  #inFlight = 0;
  #nextStreamId = 0;
  #isClosing = false;
  /** Why no stream can be opened any more; null while streams can be opened. */
  readonly unusable: () => string | null;

  constructor(name: string, start: StartVadThread, log: (message: string) => void) {
    this.name = name;
    this.#thread = new ModelThread<VadThread>({
      name: "voice activity detection",
      start: (run) => {
        this.#inFlight = 0;
        return start({
          heard: (message) => {
            if (!run.isOver) this.#heard(run, message);
          },
          ended: (reason) => run.lost(reason),
        });
      },
      loadLimit: { ms: VAD_LOAD_TIMEOUT_MS, reason: "the model did not load in time" },
      discard: (thread) => thread.abandon(),
      // Every stream has lost its state, so all of them fail. A new thread serves later ones.
      lost: (reason) => this.#failAll(`voice activity detection was lost: ${reason}`),
      log,
    });
    this.unusable = this.#thread.unusable;
  }

  load(): Promise<void> {
    return this.#thread.load();
  }

  open(listener: VadListener): VadStream {
    const streamId = this.#nextStreamId;
    // Ids are sent as int32; at 100 new streams a second they last eight months.
    this.#nextStreamId = (this.#nextStreamId + 1) % 0x7fff_ffff;
    this.#streams.set(streamId, { listener, scoredCount: 0, failed: false });
    const unusable = this.unusable();
    if (unusable !== null) this.#fail(streamId, unusable);
    return {
      push: (window) => {
        if (window.length !== VAD_WINDOW_SAMPLES) {
          throw new RangeError(
            `a window has ${String(VAD_WINDOW_SAMPLES)} samples, not ${String(window.length)}`,
          );
        }
        this.#push(streamId, window);
      },
      close: () => {
        this.#forget(streamId);
      },
    };
  }

  /** The thread finishes its batches, releases the model and ends. */
  close(): Promise<void> {
    this.#isClosing = true;
    this.#failAll("voice activity detection was closed");
    return this.#thread.finish((thread) => thread.send({ type: "finish" }), {
      ms: VAD_BATCH_TIMEOUT_MS,
      reason: "it did not finish in time",
    });
  }

  #push(streamId: number, window: Int16Array): void {
    const stream = this.#streams.get(streamId);
    if (stream === undefined || stream.failed) return;
    const behind = this.#queue.add(streamId, window);
    if (behind !== null) {
      this.#fail(behind, "voice activity detection is too far behind the audio of this call");
      if (behind !== streamId) this.#queue.add(streamId, window);
    }
    this.#pump();
  }

  #pump(): void {
    const thread = this.#thread.ready;
    if (thread === null) return;
    while (this.#queue.readyCount > 0) {
      const isFull = this.#queue.readyCount >= VAD_BATCH_WINDOWS;
      if (this.#inFlight > 0 && !(isFull && this.#inFlight < VAD_BATCHES_IN_FLIGHT)) return;
      const buffer = this.#spareBuffers.pop() ?? createBatchBuffer();
      const { streamIds, windows } = viewBatch(buffer);
      const count = this.#queue.take(VAD_BATCH_WINDOWS, streamIds, windows);
      this.#inFlight += 1;
      thread.send({ type: "batch", count, buffer });
      if (!this.#thread.hasLimit) this.#thread.limit(BATCH_LIMIT);
    }
  }

  #heard(run: Run<string>, message: FromWorker): void {
    switch (message.type) {
      case "ready":
        run.ready();
        this.#pump();
        return;
      case "unusable":
        run.lost(message.detail);
        return;
      case "scored":
      case "batchFailed":
        this.#answered(message);
    }
  }

  #answered(message: Extract<FromWorker, { buffer: ArrayBuffer }>): void {
    this.#inFlight -= 1;
    const { streamIds, scores } = viewBatch(message.buffer);
    const answers = Array.from(
      { length: message.count },
      (_, row) => [streamIds[row]!, scores[row]!] as const,
    );
    if (this.#spareBuffers.length < VAD_BATCHES_IN_FLIGHT) this.#spareBuffers.push(message.buffer);
    if (this.#inFlight > 0) this.#thread.limit(BATCH_LIMIT);
    else this.#thread.clearLimit();
    this.#pump();
    for (const [streamId, score] of answers) {
      const stream = this.#streams.get(streamId);
      if (stream === undefined || stream.failed) continue;
      if (message.type === "scored") stream.listener.scored(stream.scoredCount++, score);
      else this.#fail(streamId, `voice activity detection failed: ${message.detail}`);
    }
  }

  #failAll(reason: string): void {
    for (const streamId of this.#streams.keys()) this.#fail(streamId, reason);
  }

  /**
   * Notifies the listener after the current call into this engine has returned, unless the stream is closed by then.
   */
  #fail(streamId: number, reason: string): void {
    const stream = this.#streams.get(streamId);
    if (stream === undefined || stream.failed) return;
    stream.failed = true;
    this.#release(streamId);
    queueMicrotask(() => {
      if (this.#streams.delete(streamId)) stream.listener.failed(new Error(reason));
    });
  }

  #forget(streamId: number): void {
    if (this.#streams.delete(streamId)) this.#release(streamId);
  }

  #release(streamId: number): void {
    this.#queue.remove(streamId);
    if (!this.#isClosing) this.#thread.running?.send({ type: "forget", streamId });
  }
}

/** Resolves when the first thread has loaded its model, rejects when it cannot. */
export async function openThreadedVad(
  name: string,
  start: StartVadThread,
  log: (message: string) => void,
): Promise<VadEngine> {
  const engine = new ThreadedVad(name, start, log);
  await engine.load();
  return engine;
}
