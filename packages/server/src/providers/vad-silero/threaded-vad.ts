/**
 * The engine around the scoring thread: adaptive batches, bounded queues, and one thread's end never more than one
 * failure per stream.
 *
 * A batch leaves at once when the thread is idle. While one is under way windows gather, and a second batch is sent
 * ahead only when it is full: the thread then never waits for the main thread under load, and never gets small batches
 * that it would pay for twice.
 */

import { VAD_WINDOW_SAMPLES, type VadEngine, type VadListener, type VadStream } from "../../ports/vad.ts";
import { createBatchBuffer, VAD_BATCH_WINDOWS, viewBatch, type FromWorker } from "./protocol.ts";
import type { StartVadThread, VadThread } from "./vad-thread.ts";
import { WindowQueue } from "./window-queue.ts";

/** Batches at the thread at once: one being scored and one behind it. */
const VAD_BATCHES_IN_FLIGHT = 2;

/** From start to a loaded model: 0.1 s here; a minute bounds a cold disk. */
export const VAD_LOAD_TIMEOUT_MS = 60_000;

/** A batch takes 1 ms; after ten seconds without an answer the thread is taken for lost. */
export const VAD_BATCH_TIMEOUT_MS = 10_000;

/** Starts of a new thread within `VAD_RESTART_WINDOW_MS`; beyond that the fault is not a passing one. */
export const VAD_RESTARTS = 3;
export const VAD_RESTART_WINDOW_MS = 600_000;

interface OpenStream {
  readonly listener: VadListener;
  scoredCount: number;
  /** Its listener is about to hear that it failed. */
  failed: boolean;
}

/** One life of the thread. */
interface Life {
  readonly thread: VadThread;
  ready: boolean;
  /** Set by its end, its failure to load, or a timeout: what it says later is not heard. */
  over: boolean;
  watch: NodeJS.Timeout | null;
  inFlight: number;
}

class ThreadedVad implements VadEngine {
  readonly name: string;
  readonly #start: StartVadThread;
  readonly #log: (message: string) => void;
  readonly #streams = new Map<number, OpenStream>();
  readonly #queue = new WindowQueue();
  readonly #spareBuffers: ArrayBuffer[] = [];
  readonly #restartsAtMs: number[] = [];
  #life: Life | null = null;
  #nextStreamId = 0;
  /** Why no stream can be opened any more. */
  #unusable: string | null = null;
  #opened = Promise.withResolvers<void>();
  #closing: PromiseWithResolvers<void> | null = null;

  constructor(name: string, start: StartVadThread, log: (message: string) => void) {
    this.name = name;
    this.#start = start;
    this.#log = log;
  }

  readonly unusable = (): string | null => this.#unusable;

  load(): Promise<void> {
    this.#begin();
    return this.#opened.promise;
  }

  open(listener: VadListener): VadStream {
    const streamId = this.#nextStreamId;
    // Ids travel as int32; at 100 new streams a second they last eight months.
    this.#nextStreamId = (this.#nextStreamId + 1) % 0x7fff_ffff;
    this.#streams.set(streamId, { listener, scoredCount: 0, failed: false });
    if (this.#unusable !== null) this.#fail(streamId, this.#unusable);
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

  close(): Promise<void> {
    if (this.#closing !== null) return this.#closing.promise;
    this.#closing = Promise.withResolvers<void>();
    this.#failAll("voice activity detection was closed");
    this.#unusable ??= "voice activity detection is closed";
    const life = this.#life;
    if (life === null || life.over) this.#closing.resolve();
    else {
      // The thread finishes the batches that it has, releases the model and ends; its end resolves this.
      life.thread.send({ type: "finish" });
      this.#watch(life, VAD_BATCH_TIMEOUT_MS, "it did not finish in time");
    }
    return this.#closing.promise;
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
    const life = this.#life;
    if (life === null || !life.ready || life.over) return;
    while (this.#queue.readyCount > 0) {
      const isFull = this.#queue.readyCount >= VAD_BATCH_WINDOWS;
      if (life.inFlight > 0 && !(isFull && life.inFlight < VAD_BATCHES_IN_FLIGHT)) return;
      const buffer = this.#spareBuffers.pop() ?? createBatchBuffer();
      const { streamIds, windows } = viewBatch(buffer);
      const count = this.#queue.take(VAD_BATCH_WINDOWS, streamIds, windows);
      life.inFlight += 1;
      life.thread.send({ type: "batch", count, buffer });
      if (life.watch === null) this.#watch(life, VAD_BATCH_TIMEOUT_MS, "it did not answer in time");
    }
  }

  #begin(): void {
    const life: Life = {
      thread: this.#start({
        heard: (message) => {
          if (!life.over) this.#heard(life, message);
        },
        ended: (reason) => {
          if (!life.over) this.#end(life, reason);
        },
      }),
      ready: false,
      over: false,
      watch: null,
      inFlight: 0,
    };
    this.#life = life;
    this.#watch(life, VAD_LOAD_TIMEOUT_MS, "the model did not load in time");
  }

  #watch(life: Life, timeoutMs: number, reason: string): void {
    this.#unwatch(life);
    life.watch = setTimeout(() => {
      life.thread.abandon();
      this.#end(life, reason);
    }, timeoutMs);
  }

  #unwatch(life: Life): void {
    if (life.watch !== null) clearTimeout(life.watch);
    life.watch = null;
  }

  #heard(life: Life, message: FromWorker): void {
    switch (message.type) {
      case "ready":
        life.ready = true;
        if (this.#closing === null) this.#unwatch(life);
        this.#opened.resolve();
        this.#pump();
        return;
      case "unusable":
        life.thread.abandon();
        this.#end(life, message.detail);
        return;
      case "scored":
      case "batchFailed":
        this.#answered(life, message);
    }
  }

  #answered(life: Life, message: Extract<FromWorker, { buffer: ArrayBuffer }>): void {
    life.inFlight -= 1;
    const { streamIds, scores } = viewBatch(message.buffer);
    const answers = Array.from(
      { length: message.count },
      (_, row) => [streamIds[row]!, scores[row]!] as const,
    );
    if (this.#spareBuffers.length < VAD_BATCHES_IN_FLIGHT) this.#spareBuffers.push(message.buffer);
    if (this.#closing === null) {
      this.#unwatch(life);
      if (life.inFlight > 0) this.#watch(life, VAD_BATCH_TIMEOUT_MS, "it did not answer in time");
    }
    this.#pump();
    for (const [streamId, score] of answers) {
      const stream = this.#streams.get(streamId);
      if (stream === undefined || stream.failed) continue;
      if (message.type === "scored") stream.listener.scored(stream.scoredCount++, score);
      else this.#fail(streamId, `voice activity detection failed: ${message.detail}`);
    }
  }

  /** The thread is gone: every stream has lost its state, so each fails, and a new thread serves later ones. */
  #end(life: Life, reason: string): void {
    life.over = true;
    this.#unwatch(life);
    if (this.#closing !== null) {
      this.#closing.resolve();
      return;
    }
    this.#opened.reject(new Error(`voice activity detection cannot start: ${reason}`));
    this.#failAll(`voice activity detection was lost: ${reason}`);
    const nowMs = performance.now();
    while ((this.#restartsAtMs[0] ?? nowMs) < nowMs - VAD_RESTART_WINDOW_MS) this.#restartsAtMs.shift();
    if (!life.ready || this.#restartsAtMs.length >= VAD_RESTARTS) {
      this.#unusable = `voice activity detection is gone: ${reason}`;
      this.#log(`voice activity detection is gone for good: ${reason}`);
      return;
    }
    this.#restartsAtMs.push(nowMs);
    this.#log(`voice activity detection starts again after its thread was lost: ${reason}`);
    this.#begin();
  }

  #failAll(reason: string): void {
    for (const streamId of this.#streams.keys()) this.#fail(streamId, reason);
  }

  /** Tells the listener after the current call into this engine has returned, unless the stream is closed by then. */
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
    const life = this.#life;
    if (life !== null && !life.over && this.#closing === null) life.thread.send({ type: "forget", streamId });
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
