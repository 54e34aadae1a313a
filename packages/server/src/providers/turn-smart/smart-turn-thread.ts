/** The worker thread as the queue sees it. */

import { Worker } from "node:worker_threads";
import type { StartQueueThread } from "../thread-queue.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";
import type { SmartTurnWorkerData } from "./smart-turn-worker.ts";

/** A question takes 40 ms; a thread that has not ended after this is left behind. */
const THREAD_END_LIMIT_MS = 5_000;

export type StartSmartTurnThread = StartQueueThread<Int16Array, number>;

export function smartTurnThread(modelPath: string): StartSmartTurnThread {
  return (listener) => {
    const workerData: SmartTurnWorkerData = { modelPath };
    const worker = new Worker(new URL("./smart-turn-worker.ts", import.meta.url), {
      workerData,
      name: "turn",
    });
    const exited = Promise.withResolvers<void>();
    let reason: string | null = null;
    let isEnding = false;
    worker.on("message", (message: FromWorker) => {
      if (!isEnding) listener.heard(message);
    });
    // Kept for the whole life: an "error" event without a listener would be thrown into the main thread.
    worker.on("error", (error: unknown) => {
      reason = error instanceof Error ? error.message : String(error);
    });
    worker.on("exit", (code) => {
      exited.resolve();
      if (!isEnding) listener.ended(reason ?? `the thread ended with code ${String(code)}`);
    });
    const tell = (message: ToWorker): void => {
      worker.postMessage(message, message.type === "judge" ? [message.samples.buffer as ArrayBuffer] : []);
    };
    return {
      send: (id, samples) => {
        tell({ type: "judge", id, samples });
      },
      // Never `terminate`: ending a thread inside an inference aborts the whole process (onnxruntime throws across the
      // native boundary). One that does not end no longer holds the process.
      end: async () => {
        isEnding = true;
        tell({ type: "finish" });
        const limit = setTimeout(exited.resolve, THREAD_END_LIMIT_MS);
        await exited.promise;
        clearTimeout(limit);
        worker.unref();
      },
    };
  };
}
