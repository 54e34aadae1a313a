/** Port for the directory of calls: which process of the deployment has a call, and operations on it from any other. */

/** `self`: the process that asks. `other`: another one that runs. `nobody`: none that runs. */
export type CallHolder = "self" | "other" | "nobody";

export interface CallOwnership {
  /**
   * `waiting`: nobody has joined it, and any process may claim it; its holder has claimed it already, or keeps it ready.
   * `joined`: held by `nobody` where its process is gone. `over`: it has ended, or can no longer be joined, or does not
   * exist.
   */
  readonly state: "waiting" | "joined" | "over";
  readonly holder: CallHolder;
}

/** An operation on a call, and its answer: JSON, which the two processes agree on. */
export interface CallOperation {
  readonly kind: string;
  readonly [member: string]: unknown;
}

export type Forwarded =
  | { readonly kind: "answered"; readonly answer: unknown }
  /** No other running process has the call. */
  | { readonly kind: "no_owner" }
  /** `reason` ends a sentence of the log. The operation may have been carried out. */
  | { readonly kind: "unreachable"; readonly reason: string };

export interface CallDirectory {
  ownerOf(callId: string): Promise<CallOwnership>;
  /**
   * Claims a call that nobody has joined for this process. Exactly one of several claims at a time succeeds, and it can
   * be repeated by the process that has it. False: another running process has claimed it, or it is not `waiting`.
   */
  claim(callId: string): Promise<boolean>;
  /** Gives up the claim of this process on a call that nobody has joined: others may claim it. Idempotent. */
  release(callId: string): Promise<void>;
  /** Passes the operation to the process that has the call, for two seconds at most; offers of WebRTC for ten. */
  forward(callId: string, operation: CallOperation): Promise<Forwarded>;
}
