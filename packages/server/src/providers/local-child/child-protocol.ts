/** What the process of a model says, whatever its model is for. */
export type FromChild<Answer> =
  | { readonly type: "ready" }
  /** It cannot work. It ends. */
  | { readonly type: "unusable"; readonly detail: string }
  /** Words so far of the stream `id`; of a language model its next words, or none while it reads. */
  | { readonly type: "partial"; readonly id: number; readonly text: string }
  | { readonly type: "answered"; readonly id: number; readonly answer: Answer }
  | { readonly type: "failed"; readonly id: number; readonly detail: string };
