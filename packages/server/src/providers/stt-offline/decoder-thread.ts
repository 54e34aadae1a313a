/** The worker thread as the queue sees it; tests put a scripted one in its place. */

import { Worker } from "node:worker_threads";
import type { FromWorker, ToWorker } from "./protocol.ts";

export interface DecoderThreadListener {
  heard(message: FromWorker): void;
  /** The thread is gone, for the reason given. Not called after `end`. */
  ended(reason: string): void;
}

export interface DecoderThread {
  send(message: ToWorker): void;
  /** Stops it in the middle of whatever it does; safe, because its decoder is WASM. */
  end(): Promise<void>;
}

export type StartDecoderThread = (listener: DecoderThreadListener) => DecoderThread;

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
    send: (message) => {
      worker.postMessage(message, [message.samples.buffer as ArrayBuffer]);
    },
    end: async () => {
      isEnding = true;
      await worker.terminate();
    },
  };
};
