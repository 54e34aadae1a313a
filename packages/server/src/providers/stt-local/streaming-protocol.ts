/** What a streaming recogniser's process is told. A stream begins with its first message and ends with its answer. */
export type ToStreamingChild =
  | { readonly type: "push"; readonly id: number; readonly samples: Int16Array }
  /** Answered by the words of all that was pushed. */
  | { readonly type: "finish"; readonly id: number }
  | { readonly type: "drop"; readonly id: number };
