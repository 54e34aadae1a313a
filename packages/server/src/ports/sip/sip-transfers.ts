/**
 * Port between the transfers of calls over SIP and the protocol: a connected call of this process is held, referred, or
 * bridged with another one. The application decides who may be called, and what the agents hear of it.
 */

import type { SipTermination } from "@parley/schema";
import type { SipCallOwner, SipDestination } from "../sip-calls.ts";

export interface SipHeaderField {
  /** Begins with `X-`. */
  readonly name: string;
  readonly value: string;
}

export interface ReferRequest {
  /** Header fields of the REFER. */
  readonly headers: readonly SipHeaderField[];
  /** Wait for the final status of the new call. */
  readonly limitMs: number;
}

/**
 * - `transferred`: the far side has reported success, or has ended the call with us after it had accepted the REFER
 * - `refused`: the far side does not accept the REFER, so nobody was called; `status` is its response
 * - `failed`: the new call was not answered; `status` is what the far side reports of it, 408 when it reports nothing
 */
export type ReferOutcome = {
  readonly kind: "transferred" | "refused" | "failed";
  readonly status: number;
  /** From the network. */
  readonly reason: string;
};

export interface HoldMusic {
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
}

/** A connected call of this process. Its functions do nothing when it is over, unless they say so. */
export interface TransferableCall {
  readonly owner: SipCallOwner;
  /**
   * Where the far side is reached: the URI that was dialled, or the address that the call came from. A caller can write
   * any host into the fields of its INVITE, so they do not count.
   */
  readonly peerUri: string;
  /** The far side is gone. */
  readonly isOver: boolean;
  /** Resolves when the far side is gone. */
  readonly over: Promise<void>;
  /** The agent and the far side do not hear each other, and the far side hears the music; null: silence. */
  hold(music: HoldMusic | null): void;
  resume(): void;
  /** Asks the far side to call `to`. Never rejects. */
  refer(to: string, request: ReferRequest): Promise<ReferOutcome>;
  /** Asks the far side to take the place of this service in the other call. Never rejects. */
  referTo(other: TransferableCall, request: ReferRequest): Promise<ReferOutcome>;
  /**
   * Connects the far sides of the two calls; the end of one ends the other. Both agents have left, or leave without
   * ending their calls. False: it is not possible, and nothing has changed.
   */
  bridge(other: TransferableCall): boolean;
  /** From now on the end of the agent does not end the call. Resolves when the agent has left. */
  keep(): Promise<void>;
  /** Calls `pressed` for each key of the far side until the returned function is called. */
  onKey(pressed: (key: string) => void): () => void;
  hangUp(): void;
}

/** The far side of a call wants it to go elsewhere (REFER). It waits for one of `refuse` and `follow`, for some seconds. */
export interface SipReferral {
  /** A `sip:`, `sips:` or `tel:` URI, as the far side has written it. */
  readonly to: string;
  /** The target is a call that is to be taken over, which this service does not do. */
  readonly hasReplaces: boolean;
  /** @param status 400 to 699; `reason` is in the response, in place of the usual words of the status */
  refuse(status: number, reason?: string): void;
  /**
   * Calls somebody, who takes the place of the far side in the call when they answer; until then the call goes on. The
   * far side learns of it by NOTIFY and leaves. Does nothing more when it is gone, or has waited too long.
   */
  follow(destination: SipDestination, listener: ReferralListener): void;
}

/** Exactly one of `answered` and `failed` is called, once. */
export interface ReferralListener {
  answered(): void;
  /** The call is as it was before; it is over where its far side has left. */
  failed(termination: SipTermination, detail: string): void;
  /** Whoever has taken the place is gone. @param talkedMs since the answer */
  ended(termination: SipTermination, talkedMs: number): void;
}

export type AsideOutcome =
  | { readonly kind: "answered"; readonly call: TransferableCall }
  | { readonly kind: "failed"; readonly termination: SipTermination; readonly detail: string };

/** A call to somebody without an agent. */
export interface AsideCall {
  /** Never rejects. */
  readonly outcome: Promise<AsideOutcome>;
  /** Stops the ringing. */
  cancel(): void;
}

export interface SipTransfers {
  /** Null: it is no connected call over SIP of this process. */
  callOf(callId: string): TransferableCall | null;
  /**
   * Calls somebody whose media can be bridged with those of `besideCallId`.
   *
   * @param ended called once when an answered call is over, with the time since its answer
   */
  dialAside(
    owner: SipCallOwner,
    destination: SipDestination,
    ended: (termination: SipTermination, talkedMs: number) => void,
  ): AsideCall;
}
