/** The worker thread as the engine sees it; tests put a scripted one in its place. */

import { Worker } from "node:worker_threads";
import type { FromWorker, ToWorker } from "./protocol.ts";
import type { SileroWorkerData } from "./silero-worker.ts";

export interface VadThreadListener {
  heard(message: FromWorker): void;
  /** The thread is gone, for the reason given. Called exactly once, also after a regular end. */
  ended(reason: string): void;
}

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
    const worker = new Worker(new URL("./silero-worker.ts", import.meta.url), {
      workerData,
      name: "vad",
    });
    let reason: string | null = null;
    worker.on("message", (message: FromWorker) => {
      listener.heard(message);
    });
    worker.on("error", (error: unknown) => {
      reason = error instanceof Error ? error.message : String(error);
    });
    worker.on("exit", (code) => {
      listener.ended(reason ?? `the thread ended with code ${String(code)}`);
    });
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
