/**
 * Port between calls over SIP and the protocol. The application decides about the calls that come in and says whom to
 * call; the adapter signals, and gives the medium of each call to the application.
 */

import type { SipTermination } from "@parley/schema";
import type { Transport, TransportListener } from "./transport.ts";

/** A call that came in and waits for its answer. */
export interface OfferedSipCall {
  /** IP address that it came from. */
  readonly sourceAddress: string;
  /** The registration of an account by which it came; null: it came by no registration. */
  readonly registrationId: string | null;
  /** User and host of the address that is called. */
  readonly user: string;
  readonly host: string;
  readonly toUri: string;
  readonly fromUri: string;
  /** The caller's number, for most peers. */
  readonly callerId: string;
  readonly fromDisplayName: string | null;
  /** Without credentials. Names are in lower case. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

export interface SipCallOwner {
  readonly callId: string;
  readonly accountId: string;
}

/** `refused`: `status` is the response, 400 to 699. */
export type OfferDecision =
  | ({ readonly kind: "accepted" } & SipCallOwner)
  | { readonly kind: "refused"; readonly status: number; readonly reason?: string };

export type OpenSipTransport = (listener: TransportListener) => Transport;

/** What the application does with calls. */
export interface SipCallListener {
  /** Never rejects. */
  offered(call: OfferedSipCall): Promise<OfferDecision>;
  /** The call is answered and has its medium. False: it is over here, and is ended. Never rejects. */
  connected(owner: SipCallOwner, open: OpenSipTransport): Promise<boolean>;
  /** The call was not connected and will not be. `detail` explains it to people. */
  failed(owner: SipCallOwner, termination: SipTermination, detail: string): void;
  /** A connected call is over. */
  ended(owner: SipCallOwner, termination: SipTermination): void;
}

/** Whom to call. */
export interface SipDestination {
  /** A `sip:` or `sips:` URI. */
  readonly to: string;
  /** A URI, or a name with a URI in angle brackets. */
  readonly from: string;
  readonly credentials: { readonly username: string; readonly password: string } | null;
  /** Wait for an answer. */
  readonly ringLimitMs: number;
}

export interface SipDialler {
  /**
   * Calls somebody; `connected` or `failed` follows. `isWanted` is asked while it rings: once it is false, the ringing
   * stops. Resolves once the request is on its way, or with the reason why it cannot be sent.
   */
  dial(owner: SipCallOwner, destination: SipDestination, isWanted: () => boolean): Promise<string | null>;
}
