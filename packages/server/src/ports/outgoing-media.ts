/** Media by which the service dials people itself: SIP and the carriers. */

import type { CallMedium, StartAgentCallRequest } from "@parley/schema";

/** A call that is to be made, and whom to dial for it. */
export interface OutgoingCall {
  readonly accountId: string;
  readonly agentId: string;
  /** With whom to dial, and from which number. */
  readonly medium: CallMedium;
  readonly request: StartAgentCallRequest;
  /** Name or id of a call throttle. */
  readonly throttle: string | null;
  /** Goes with the creation of the call, which writes it to the batch. */
  readonly scheduled: { readonly batchId: string; readonly position: number; readonly claimId: string };
  /**
   * `accepted`: it is placed as soon as the carrier has taken it. `answered`: as soon as somebody answers, and it is
   * waited for who does not.
   */
  readonly until: "accepted" | "answered";
}

export type OutgoingOutcome =
  | { readonly kind: "placed"; readonly callId: string }
  /** Nobody was reached. `reason` is a sentence without secrets; a call that was created has been ended. */
  | {
      readonly kind: "busy" | "no_answer" | "failed";
      readonly callId: string | null;
      readonly reason: string;
    }
  /** A limit says no for now, of this node or of more; there is no call, and nobody was asked. */
  | { readonly kind: "later"; readonly waitMs: number; readonly of: "node" | "batch" }
  /** Somebody else has the scheduled call by now; there is no call, and nobody was asked. */
  | { readonly kind: "lost" };

export interface OutgoingMedia {
  /**
   * Creates the call and has its person dialled, at most once however it ends. Rejects, also when `signal` is aborted, when
   * it is not known whether anybody was dialled.
   */
  readonly place: (call: OutgoingCall, signal: AbortSignal) => Promise<OutgoingOutcome>;
}
