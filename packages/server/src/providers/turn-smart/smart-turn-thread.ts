/** The worker thread as the queue sees it. */

import { startWorker } from "../../threads/worker-thread.ts";
import type { StartQueueThread } from "../thread-queue.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";
import type { SmartTurnWorkerData } from "./smart-turn-worker.ts";

/** Limit of ending a thread; a question takes 40 ms. A slower thread is abandoned. */
const THREAD_END_LIMIT_MS = 5_000;

export type StartSmartTurnThread = StartQueueThread<Int16Array, number>;

export function smartTurnThread(modelPath: string): StartSmartTurnThread {
  return (listener) => {
    const workerData: SmartTurnWorkerData = { modelPath };
    const exited = Promise.withResolvers<void>();
    const worker = startWorker<FromWorker>(
      new URL("./smart-turn-worker.ts", import.meta.url),
      { workerData, name: "turn" },
      {
        heard: (message) => listener.heard(message),
        ended: (reason) => {
          exited.resolve();
          listener.ended(reason);
        },
      },
    );
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
        tell({ type: "finish" });
        const limit = setTimeout(exited.resolve, THREAD_END_LIMIT_MS);
        await exited.promise;
        clearTimeout(limit);
        worker.unref();
      },
    };
  };
}
