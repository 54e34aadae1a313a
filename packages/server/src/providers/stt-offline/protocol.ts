/** Messages between main thread and worker; one utterance at a time. */

import type { FromThread } from "../thread-queue.ts";

export interface ToWorker {
  readonly id: number;
  /** 16 kHz mono; its memory is transferred. */
  readonly samples: Int16Array;
}

export type FromWorker = FromThread<string>;
