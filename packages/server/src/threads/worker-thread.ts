/** A worker thread that says why it ended. */

import { Worker, type WorkerOptions } from "node:worker_threads";
import { messageOf } from "../pacing/error-text.ts";

export interface WorkerListener<Message> {
  heard(message: Message): void;
  /** The thread is gone, for the reason given. Called exactly once, also after a regular end. */
  ended(reason: string): void;
}

export function startWorker<Message>(
  file: URL,
  options: WorkerOptions,
  listener: WorkerListener<Message>,
): Worker {
  const worker = new Worker(file, options);
  let reason: string | null = null;
  worker.on("message", (message: Message) => {
    listener.heard(message);
  });
  // Kept while the thread lives: an "error" event without a listener would be thrown into the main thread.
  worker.on("error", (error: unknown) => {
    reason = messageOf(error);
  });
  worker.on("exit", (code) => {
    listener.ended(reason ?? `the thread ended with code ${String(code)}`);
  });
  return worker;
}
