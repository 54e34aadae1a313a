/** The worker thread as the pool of jobs sees it. */

import type { FromJobThread, ToJobThread } from "./job-protocol.ts";
import { startWorker, type WorkerListener } from "./worker-thread.ts";

/** Limits of one thread's memory. Objects take up to 20 times the size of their JSON, which has at most 10 MiB. */
const MEMORY = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 32 };

export interface JobThread {
  send(message: ToJobThread): void;
  /** Ends the thread, also while it computes. */
  end(): Promise<void>;
}

/** Tests replace it by a scripted one. */
export type StartJobThread = (listener: WorkerListener<FromJobThread>) => JobThread;

export const startJobThread: StartJobThread = (listener) => {
  const worker = startWorker<FromJobThread>(
    new URL("./job-worker.ts", import.meta.url),
    { name: "checks", resourceLimits: MEMORY },
    listener,
  );
  // The process may end while it waits for work.
  worker.unref();
  return {
    send: (message) => worker.postMessage(message, []),
    end: async () => {
      await worker.terminate();
    },
  };
};
