/** The worker thread as the engine sees it; tests replace it by a scripted one. */

import { startWorker, type WorkerListener } from "../../threads/worker-thread.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";
import type { SileroWorkerData } from "./silero-worker.ts";

export type VadThreadListener = WorkerListener<FromWorker>;

export interface VadThread {
  send(message: ToWorker): void;
  /**
   * Stops listening and lets the process end without it. Never `terminate`: ending a thread inside an inference aborts
   * the whole process (onnxruntime throws across the native boundary).
   */
  abandon(): void;
}

export type StartVadThread = (listener: VadThreadListener) => VadThread;

export function sileroThread(modelPath: string): StartVadThread {
  return (listener) => {
    const workerData: SileroWorkerData = { modelPath };
    const worker = startWorker<FromWorker>(
      new URL("./silero-worker.ts", import.meta.url),
      { workerData, name: "vad" },
      listener,
    );
    return {
      send: (message) => {
        worker.postMessage(message, message.type === "batch" ? [message.buffer] : []);
      },
      abandon: () => {
        worker.removeAllListeners();
        // An "error" event without a listener would be thrown into the main thread.
        worker.on("error", () => undefined);
        worker.unref();
      },
    };
  };
}
