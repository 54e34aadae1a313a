/** The worker thread as the queue sees it; tests replace it by a scripted one. */

import { startWorker } from "../../threads/worker-thread.ts";
import type { StartQueueThread } from "../thread-queue.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";

export type StartDecoderThread = StartQueueThread<Int16Array, string>;

export const startDecoderThread: StartDecoderThread = (listener) => {
  const file = new URL("./decoder-worker.ts", import.meta.url);
  const worker = startWorker<FromWorker>(file, { name: "stt" }, listener);
  return {
    send: (id, samples) => {
      const message: ToWorker = { id, samples };
      worker.postMessage(message, [samples.buffer as ArrayBuffer]);
    },
    // Terminating is safe at any time, because the decoder is WASM.
    end: async () => {
      await worker.terminate();
    },
  };
};
