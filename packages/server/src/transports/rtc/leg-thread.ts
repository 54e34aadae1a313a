/** A thread of legs as the main thread sees it; tests put a scripted one in its place. */

import { startWorker, type WorkerListener } from "../../threads/worker-thread.ts";
import type { FromLegThread, ToLegThread } from "./leg-protocol.ts";

export type LegThreadListener = WorkerListener<FromLegThread>;

export interface LegThread {
  send(message: ToLegThread): void;
  /** Ends it wherever it is: all it runs is JavaScript and WASM. */
  terminate(): void;
}

export type StartLegThread = (listener: LegThreadListener) => LegThread;

/** Threads that run a worker file, which answers `ToLegThread`. */
export function legThreadsOf(workerFile: URL, name: string): StartLegThread {
  return (listener) => {
    const worker = startWorker<FromLegThread>(workerFile, { name }, listener);
    return {
      send: (message) => {
        const transferred =
          message.type === "audio" ? [message.batch.index.buffer, message.batch.samples.buffer] : [];
        worker.postMessage(message, transferred);
      },
      terminate: () => void worker.terminate(),
    };
  };
}
