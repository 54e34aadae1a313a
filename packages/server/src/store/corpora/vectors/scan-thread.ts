/** The thread that compares vectors, started with the first search and again after a crash. */

import type { Worker } from "node:worker_threads";
import { abortError } from "../../../pacing/abort.ts";
import { Supervisor, type Run } from "../../../threads/supervisor.ts";
import { startWorker } from "../../../threads/worker-thread.ts";
import type { FromScanThread, ToScanThread } from "./scan-protocol.ts";
import type { NearChunks } from "./near-vectors.ts";

/** A comparison of 100,000 vectors takes a twentieth of this. */
const SEARCH_LIMIT_MS = 5_000;
const START_LIMIT = { ms: 60_000, reason: "the thread for comparisons did not start in time" };
/** The vectors are outside of the heap, in buffers whose sum `vector-scan.ts` bounds. */
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };

interface Waiting {
  readonly resolve: (found: NearChunks) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

export interface ScanThread {
  /** The buffers of a `load` are moved to the thread. */
  send(message: Exclude<ToScanThread, { readonly type: "search" }>): void;
  search(key: string, vector: Float32Array, limit: number, signal: AbortSignal): Promise<NearChunks>;
  close(): Promise<void>;
}

/** `lost` is called when the thread has ended, and with it all that was loaded. */
export function openScanThread(lost: (reason: string) => void): ScanThread {
  const waiting = new Map<number, Waiting>();
  let nextId = 0;
  let unsent: { readonly message: ToScanThread; readonly moved: ArrayBuffer[] }[] = [];
  const supervisor: Supervisor<Worker> = new Supervisor<Worker>({
    policy: {
      restarts: Infinity,
      windowMs: 0,
      backoff: { firstMs: 50, longestMs: 5_000 },
      afterFailedStart: true,
    },
    startLimit: START_LIMIT,
    start: (run) => startScan(run, hear),
    ready: () => {
      for (const { message, moved } of unsent) supervisor.ready?.postMessage(message, moved);
      unsent = [];
    },
    discard: (worker) => void worker.terminate(),
    ended: ({ reason }) => {
      unsent = [];
      for (const id of waiting.keys()) settle(id)?.reject(new Error(`the comparison was lost: ${reason}`));
      lost(reason);
    },
  });
  const settle = (id: number): Waiting | undefined => {
    const found = waiting.get(id);
    waiting.delete(id);
    clearTimeout(found?.timer);
    return found;
  };
  const hear = (message: FromScanThread): void => {
    if (message.type === "ready") return;
    supervisor.succeeded();
    if (message.type === "missing") {
      settle(message.id)?.reject(new Error("the vectors of the corpus were lost with their thread"));
      return;
    }
    settle(message.id)?.resolve(message);
  };
  const post = (message: ToScanThread, moved: ArrayBuffer[] = []): void => {
    if (supervisor.running === null && !started) {
      started = true;
      supervisor.start();
    }
    const { ready } = supervisor;
    if (ready === null) unsent.push({ message, moved });
    else ready.postMessage(message, moved);
  };
  let started = false;
  return {
    send: (message) =>
      post(message, message.type === "load" ? [bufferOf(message.chunkIds), bufferOf(message.numbers)] : []),
    search: (key, vector, limit, signal) => {
      const id = nextId++;
      const outcome = Promise.withResolvers<NearChunks>();
      const timer = setTimeout(() => {
        supervisor.lose("a comparison took too long");
      }, SEARCH_LIMIT_MS);
      const aborted = (): void => settle(id)?.reject(abortError());
      signal.addEventListener("abort", aborted, { once: true });
      waiting.set(id, { resolve: outcome.resolve, reject: outcome.reject, timer });
      post({ type: "search", id, key, vector, limit });
      return outcome.promise.finally(() => signal.removeEventListener("abort", aborted));
    },
    close: async () => {
      for (const id of waiting.keys()) settle(id)?.reject(new Error("the service is stopping"));
      await supervisor.stop()?.terminate();
    },
  };
}

function startScan(run: Run<string>, hear: (message: FromScanThread) => void): Worker {
  const options = { name: "vectors", resourceLimits: MEMORY };
  const worker = startWorker<FromScanThread>(new URL("./scan-worker.ts", import.meta.url), options, {
    heard: (message) => {
      if (run.isOver) return;
      if (message.type === "ready") run.ready();
      else hear(message);
    },
    ended: (reason) => run.lost(reason),
  });
  worker.unref();
  return worker;
}

function bufferOf({ buffer }: Float64Array | Float32Array): ArrayBuffer {
  if (buffer instanceof ArrayBuffer) return buffer;
  throw new Error("a shared buffer cannot be moved to a thread");
}
