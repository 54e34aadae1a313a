/** A thread of legs as the main thread sees it; tests put a scripted one in its place. */

import { startWorker, type WorkerListener } from "../../threads/worker-thread.ts";
import type { FromLegThread, ToLegThread } from "./leg-protocol.ts";
import type { MemoryUse } from "./memory-watch.ts";
import { THREAD_LIMITS } from "./thread-limits.ts";

export type LegThreadListener = WorkerListener<FromLegThread>;

export interface LegThread {
  send(message: ToLegThread): void;
  /** Also answers while the thread is in an endless loop. Rejects when it has ended. */
  memoryUse(): Promise<MemoryUse>;
  /** Ends it wherever it is: all it runs is JavaScript and WASM. */
  terminate(): void;
}

export type StartLegThread = (listener: LegThreadListener) => LegThread;

/** Threads that run a worker file, which answers `ToLegThread`. */
export function legThreadsOf(workerFile: URL, name: string): StartLegThread {
  return (listener) => {
    const worker = startWorker<FromLegThread>(workerFile, { name, resourceLimits: THREAD_LIMITS }, listener);
    return {
      send: (message) => {
        const transferred =
          message.type === "audio" ? [message.batch.index.buffer, message.batch.samples.buffer] : [];
        worker.postMessage(message, transferred);
      },
      memoryUse: async () => {
        const { used_heap_size: heapBytes, external_memory: externalBytes } =
          await worker.getHeapStatistics();
        return { heapBytes, externalBytes };
      },
      terminate: () => void worker.terminate(),
    };
  };
}
