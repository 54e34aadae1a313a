/**
 * The engine around the scoring thread: adaptive batches, bounded queues, and one thread's end never more than one
 * failure per stream. A thread that cannot follow costs windows and no stream: those that are left out get the score of
 * the window before them, so that a peak of load does not end calls.
 *
 * A batch leaves at once when the thread is idle; with many streams not within some milliseconds of the one before,
 * because a window alone costs as much as three in a full batch. While a batch is under way windows gather, and a second
 * batch is sent ahead only when it is full: the thread then never waits for the main thread under load, and never gets
 * small batches that it would pay for twice.
 */

import { VAD_WINDOW_SAMPLES, type VadEngine, type VadListener, type VadStream } from "../../ports/vad.ts";
import { ModelThread } from "../../threads/model-thread.ts";
import type { Run } from "../../threads/supervisor.ts";
import { createBatchBuffer, VAD_BATCH_WINDOWS, viewBatch, type FromWorker } from "./protocol.ts";
import type { StartVadThread, VadThread } from "./vad-thread.ts";
import { WindowQueue } from "./window-queue.ts";

/** Limit of batches at the thread: one that is being scored and one behind it. */
const VAD_BATCHES_IN_FLIGHT = 2;

/** Up to so many streams every window may leave at once: the thread is idle most of the time anyway. */
const UNGATHERED_STREAMS = 16;

/**
 * From one batch to the next that is not full: a sixth of the length of a window, which is the longest delay. 100 streams
 * have 16 windows in that time, a full batch.
 */
const GATHER_MS = 5;

/** Limit from start to a loaded model: 0.1 s here; a minute allows for a cold disk. */
export const VAD_LOAD_TIMEOUT_MS = 60_000;

/** Limit of one batch, which takes 1 ms; a slower thread counts as lost. */
export const VAD_BATCH_TIMEOUT_MS = 10_000;

/** From one line of the log about windows that were left out to the next. */
export const VAD_BEHIND_REPORT_MS = 10_000;

const BATCH_LIMIT = { ms: VAD_BATCH_TIMEOUT_MS, reason: "it did not answer in time" };

interface OpenStream {
  readonly listener: VadListener;
  scoredCount: number;
  lastScore: number;
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
  /** Of each of them, the windows that were left out before each row. */
  #skippedInFlight: Int32Array[] = [];
  #nextStreamId = 0;
  /** Runs for `GATHER_MS` after each batch. */
  #gathering: NodeJS.Timeout | null = null;
  /** Windows that were left out since the last report; null: nothing is reported. */
  #leftOut: number | null = null;
  readonly #log: (message: string) => void;
  #isClosing = false;
  /** Why no stream can be opened any more; null while streams can be opened. */
  readonly unusable: () => string | null;

  constructor(name: string, start: StartVadThread, log: (message: string) => void) {
    this.name = name;
    this.#log = log;
    this.#thread = new ModelThread<VadThread>({
      name: "voice activity detection",
      start: (run) => {
        this.#inFlight = 0;
        this.#skippedInFlight = [];
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
    this.#streams.set(streamId, { listener, scoredCount: 0, lastScore: 0, failed: false });
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
    if (this.#queue.add(streamId, window)) this.#noteLeftOut();
    this.#pump();
  }

  #noteLeftOut(): void {
    if (this.#leftOut !== null) {
      this.#leftOut += 1;
      return;
    }
    this.#leftOut = 1;
    setTimeout(() => {
      const seconds = String(VAD_BEHIND_REPORT_MS / 1_000);
      this.#log(
        `voice activity detection is behind the calls: ${String(this.#leftOut)} windows of 32 ms were left out in ${seconds} s`,
      );
      this.#leftOut = null;
    }, VAD_BEHIND_REPORT_MS).unref();
  }

  #pump(): void {
    const thread = this.#thread.ready;
    if (thread === null) return;
    while (this.#queue.readyCount > 0) {
      const isFull = this.#queue.readyCount >= VAD_BATCH_WINDOWS;
      if (!isFull && this.#gathering !== null) return;
      if (this.#inFlight > 0 && !(isFull && this.#inFlight < VAD_BATCHES_IN_FLIGHT)) return;
      const buffer = this.#spareBuffers.pop() ?? createBatchBuffer();
      const { streamIds, windows } = viewBatch(buffer);
      const skipped = new Int32Array(VAD_BATCH_WINDOWS);
      const count = this.#queue.take(VAD_BATCH_WINDOWS, { streamIds, windows, skipped });
      this.#inFlight += 1;
      this.#skippedInFlight.push(skipped);
      thread.send({ type: "batch", count, buffer });
      if (!this.#thread.hasLimit) this.#thread.limit(BATCH_LIMIT);
      this.#gather();
    }
  }

  /** A batch has left: the next one leaves later, or full. */
  #gather(): void {
    if (this.#streams.size <= UNGATHERED_STREAMS) return;
    if (this.#gathering !== null) {
      this.#gathering.refresh();
      return;
    }
    this.#gathering = setTimeout(() => {
      this.#gathering = null;
      this.#pump();
    }, GATHER_MS);
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
    const skipped = this.#skippedInFlight.shift();
    const { streamIds, scores } = viewBatch(message.buffer);
    const answers = Array.from(
      { length: message.count },
      (_, row) => [streamIds[row]!, scores[row]!, skipped?.[row] ?? 0] as const,
    );
    if (this.#spareBuffers.length < VAD_BATCHES_IN_FLIGHT) this.#spareBuffers.push(message.buffer);
    if (this.#inFlight > 0) this.#thread.limit(BATCH_LIMIT);
    else this.#thread.clearLimit();
    this.#pump();
    for (const [streamId, score, leftOut] of answers) {
      const stream = this.#streams.get(streamId);
      if (stream === undefined || stream.failed) continue;
      if (message.type === "scored") this.#scored(streamId, stream, { score, leftOut });
      else this.#fail(streamId, `voice activity detection failed: ${message.detail}`);
    }
  }

  /** Windows that were left out count as the one before them. The listener may close its stream meanwhile. */
  #scored(
    streamId: number,
    stream: OpenStream,
    { score, leftOut }: { readonly score: number; readonly leftOut: number },
  ): void {
    const before = stream.lastScore;
    stream.lastScore = score;
    for (let left = leftOut; left >= 0 && this.#streams.has(streamId); left -= 1)
      stream.listener.scored(stream.scoredCount++, left > 0 ? before : score);
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
