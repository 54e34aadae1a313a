/** What main thread and worker say to each other; one utterance at a time. */

import type { FromThread } from "../thread-queue.ts";

export interface ToWorker {
  readonly id: number;
  /** 16 kHz mono; its memory is handed over. */
  readonly samples: Int16Array;
}

export type FromWorker = FromThread<string>;
