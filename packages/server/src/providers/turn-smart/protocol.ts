/** Messages between main thread and worker; one question at a time. */

import type { FromThread } from "../thread-queue.ts";

export type ToWorker =
  /** 16 kHz mono, at most 8 s; its memory is transferred. */
  | { readonly type: "judge"; readonly id: number; readonly samples: Int16Array }
  /** Finish earlier messages, release the model and end the thread. */
  | { readonly type: "finish" };

/** Answers are probabilities that the user has finished. */
export type FromWorker = FromThread<number>;
