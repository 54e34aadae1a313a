/** Messages between the store and the thread that compares vectors. */

export type ToScanThread =
  /** More vectors of a corpus, one after the other, with the ids of their chunks. */
  | {
      readonly type: "load";
      readonly key: string;
      readonly dimensions: number;
      readonly chunkIds: Float64Array;
      readonly numbers: Float32Array;
    }
  | { readonly type: "drop"; readonly key: string }
  | {
      readonly type: "search";
      readonly id: number;
      readonly key: string;
      readonly vector: Float32Array;
      readonly limit: number;
    };

export type FromScanThread =
  | { readonly type: "ready" }
  /** The corpus was never loaded, or was lost with an earlier thread. */
  | { readonly type: "missing"; readonly id: number }
  | {
      readonly type: "found";
      readonly id: number;
      /** Nearest first. */
      readonly near: readonly { readonly chunkId: number; readonly cosine: number }[];
      readonly background: { readonly mean: number; readonly deviation: number; readonly count: number };
    };
