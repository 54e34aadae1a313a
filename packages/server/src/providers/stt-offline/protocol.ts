/** What main thread and worker say to each other; one utterance at a time. */

export interface ToWorker {
  readonly id: number;
  /** 16 kHz mono; its memory is handed over. */
  readonly samples: Int16Array;
}

export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "unusable"; readonly detail: string }
  | { readonly type: "decoded"; readonly id: number; readonly text: string }
  | { readonly type: "undecodable"; readonly id: number; readonly detail: string };
