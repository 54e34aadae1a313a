/**
 * What main thread and worker say to each other. One buffer carries a batch to the worker and its scores back: it is
 * transferred both ways and used again, so steady speech allocates nothing and a batch costs one message each way.
 *
 * Layout, little endian as the machine has it: stream ids (int32 × 16), scores (float32 × 16), windows
 * (int16 × 16 × 512).
 */

import { VAD_WINDOW_SAMPLES } from "../../ports/vad.ts";

/**
 * Limit of windows in one inference. Batches are up to 2.2 times faster at 16 and hardly more beyond, while a larger
 * batch adds delay.
 */
export const VAD_BATCH_WINDOWS = 16;

const IDS_BYTES = VAD_BATCH_WINDOWS * Int32Array.BYTES_PER_ELEMENT;
const SCORES_BYTES = VAD_BATCH_WINDOWS * Float32Array.BYTES_PER_ELEMENT;
const WINDOWS_BYTES = VAD_BATCH_WINDOWS * VAD_WINDOW_SAMPLES * Int16Array.BYTES_PER_ELEMENT;

export interface BatchViews {
  readonly streamIds: Int32Array;
  readonly scores: Float32Array;
  readonly windows: Int16Array;
}

export function createBatchBuffer(): ArrayBuffer {
  return new ArrayBuffer(IDS_BYTES + SCORES_BYTES + WINDOWS_BYTES);
}

export function viewBatch(buffer: ArrayBuffer): BatchViews {
  return {
    streamIds: new Int32Array(buffer, 0, VAD_BATCH_WINDOWS),
    scores: new Float32Array(buffer, IDS_BYTES, VAD_BATCH_WINDOWS),
    windows: new Int16Array(buffer, IDS_BYTES + SCORES_BYTES, VAD_BATCH_WINDOWS * VAD_WINDOW_SAMPLES),
  };
}

export type ToWorker =
  /** No stream occurs twice in one batch, because a window needs the state after the one before it. */
  | { readonly type: "batch"; readonly count: number; readonly buffer: ArrayBuffer }
  | { readonly type: "forget"; readonly streamId: number }
  /** Finish earlier messages, release the model and end the thread. */
  | { readonly type: "finish" };

export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "unusable"; readonly detail: string }
  /** Batches are answered in the order in which they were sent. */
  | { readonly type: "scored"; readonly count: number; readonly buffer: ArrayBuffer }
  | {
      readonly type: "batchFailed";
      readonly count: number;
      readonly buffer: ArrayBuffer;
      readonly detail: string;
    };
