/** A thread of legs as the main thread sees it; tests put a scripted one in its place. */

import { Worker } from "node:worker_threads";
import type { FromLegThread, ToLegThread } from "./leg-protocol.ts";

export interface LegThreadListener {
  heard(message: FromLegThread): void;
  /** The thread is gone, for the reason given. Called exactly once, also after a regular end. */
  ended(reason: string): void;
}

export interface LegThread {
  send(message: ToLegThread): void;
  /** Ends it wherever it is: all it runs is JavaScript and WASM. */
  terminate(): void;
}

export type StartLegThread = (listener: LegThreadListener) => LegThread;

export const startLegThread: StartLegThread = (listener) => {
  const worker = new Worker(new URL("./leg-worker.ts", import.meta.url), { name: "webrtc" });
  let reason: string | null = null;
  worker.on("message", (message: FromLegThread) => listener.heard(message));
  worker.on("error", (error: unknown) => {
    reason = error instanceof Error ? error.message : String(error);
  });
  worker.on("exit", (code) => listener.ended(reason ?? `the thread ended with code ${String(code)}`));
  return {
    send: (message) => {
      const transferred =
        message.type === "audio" ? [message.batch.index.buffer, message.batch.samples.buffer] : [];
      worker.postMessage(message, transferred);
    },
    terminate: () => void worker.terminate(),
  };
};
