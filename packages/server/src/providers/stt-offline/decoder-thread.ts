/** The worker thread as the queue sees it; tests put a scripted one in its place. */

import { Worker } from "node:worker_threads";
import type { StartQueueThread } from "../thread-queue.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";

export type StartDecoderThread = StartQueueThread<Int16Array, string>;

export const startDecoderThread: StartDecoderThread = (listener) => {
  const worker = new Worker(new URL("./decoder-worker.ts", import.meta.url), { name: "stt" });
  let reason: string | null = null;
  let isEnding = false;
  worker.on("message", (message: FromWorker) => {
    if (!isEnding) listener.heard(message);
  });
  worker.on("error", (error: unknown) => {
    reason = error instanceof Error ? error.message : String(error);
  });
  worker.on("exit", (code) => {
    if (!isEnding) listener.ended(reason ?? `the thread ended with code ${String(code)}`);
  });
  return {
    send: (id, samples) => {
      const message: ToWorker = { id, samples };
      worker.postMessage(message, [samples.buffer as ArrayBuffer]);
    },
    // Safe in the middle of whatever it does, because its decoder is WASM.
    end: async () => {
      isEnding = true;
      await worker.terminate();
    },
  };
};
