/** Port for media by which the service itself dials people: SIP and the carriers. */

import type { CallMedium, StartAgentCallRequest } from "@parley/schema";

/** A call to make, and whom to dial for it. */
export interface OutgoingCall {
  readonly accountId: string;
  readonly agentId: string;
  /** The carrier to dial with, and the number to dial from. */
  readonly medium: CallMedium;
  readonly request: StartAgentCallRequest;
  /** Name or id of a call throttle. */
  readonly throttle: string | null;
  /** Passed to the creation of the call, which writes it to the batch. */
  readonly scheduled: { readonly batchId: string; readonly position: number; readonly claimId: string };
  /**
   * `accepted`: it is placed as soon as the carrier has accepted it. `answered`: as soon as it is answered; an
   * unanswered call is awaited. `person`: as soon as it is known whether a person has answered, where the call detects
   * machines.
   */
  readonly until: "accepted" | "answered" | "person";
}

export type OutgoingOutcome =
  | { readonly kind: "placed"; readonly callId: string }
  /** No one was reached. `reason` is a sentence without secrets; a call that was created has been ended. */
  | {
      readonly kind: "busy" | "no_answer" | "failed";
      readonly callId: string | null;
      readonly reason: string;
    }
  /** The call was answered by an answering machine, and may go on. */
  | { readonly kind: "machine"; readonly callId: string; readonly reason: string }
  /** A limit of this node or of several refuses it for now; there is no call, and no one was dialled. */
  | { readonly kind: "later"; readonly waitMs: number; readonly of: "node" | "batch" }
  /** What its dialling needs is not configured; there is no call. `reason` is a sentence that names what is missing. */
  | { readonly kind: "impossible"; readonly reason: string }
  /** Another node has claimed the scheduled call; there is no call, and no one was dialled. */
  | { readonly kind: "lost" };

export interface OutgoingMedia {
  /**
   * Creates the call and dials its person, at most once however it ends. Rejects when it is not known whether anyone
   * was dialled, also when `signal` is aborted.
   */
  readonly place: (call: OutgoingCall, signal: AbortSignal) => Promise<OutgoingOutcome>;
}
