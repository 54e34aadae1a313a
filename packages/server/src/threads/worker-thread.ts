/** A worker thread that says why it ended. */

import { Worker, type WorkerOptions } from "node:worker_threads";
import { messageOf } from "../pacing/error-text.ts";

export interface WorkerListener<Message> {
  heard(message: Message): void;
  /**
   * The thread is gone, for the reason given. Called exactly once, also after a regular end.
   *
   * @param wasOutOfMemory it exceeded its `resourceLimits`
   */
  ended(reason: string, wasOutOfMemory?: boolean): void;
}

export function startWorker<Message>(
  file: URL,
  options: WorkerOptions,
  listener: WorkerListener<Message>,
): Worker {
  const worker = new Worker(file, options);
  let reason: string | null = null;
  let wasOutOfMemory = false;
  worker.on("message", (message: Message) => {
    listener.heard(message);
  });
  // Kept while the thread lives: an "error" event without a listener would be thrown into the main thread.
  worker.on("error", (error: unknown) => {
    reason = messageOf(error);
    wasOutOfMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  });
  worker.on("exit", (code) => {
    listener.ended(reason ?? `the thread ended with code ${String(code)}`, wasOutOfMemory);
  });
  return worker;
}
