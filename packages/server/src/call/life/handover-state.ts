/** The part of the state that says that another process is to continue the call. */

export interface Handover {
  /** From the request on, what is being said may take so long. */
  readonly limitMs: number;
  /** The sentence that was being spoken at the request; null: none was. */
  readonly last: { readonly replyId: number; readonly segmentId: number } | null;
  /** True: `handOver` was emitted, and this process does nothing more with the call. */
  readonly isReady: boolean;
}
