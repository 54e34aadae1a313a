/** What main thread and worker say to each other; one question at a time. */

import type { FromThread } from "../thread-queue.ts";

export type ToWorker =
  /** 16 kHz mono, at most 8 s; its memory is handed over. */
  | { readonly type: "judge"; readonly id: number; readonly samples: Int16Array }
  /** Finish what came before this, release the model and end the thread. */
  | { readonly type: "finish" };

/** Answers are probabilities that the speaker has finished. */
export type FromWorker = FromThread<number>;
