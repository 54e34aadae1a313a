/** The part of the state that says whether the user's transport is there. */

/** `losses` is the number of losses, so that each loss has its own grace. */
export interface Connection {
  readonly kind: "connected" | "lost";
  readonly losses: number;
  /** Time to wait for its return; unset: that of the plan. */
  readonly graceMs?: number;
  /** It was lost while the user was being transferred, and comes back only if that fails. */
  readonly inTransfer?: true;
}
