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

/** How well the media went, over the whole call. */
export interface SipMediaFigures {
  readonly packetsSent: number;
  readonly packetsReceived: number;
  /** Of those that the other side has sent; late ones are not lost. */
  readonly packetsLost: number;
  /** Interarrival jitter at the end (RFC 3550, section 6.4.1). */
  readonly jitterMs: number;
  /** Null: the other side has sent no report about us. */
  readonly roundTripMs: number | null;
  /** What the other side reports about what it receives; null: no report. */
  readonly remote: { readonly packetsLost: number; readonly jitterMs: number } | null;
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
  /** A connected call is over. @param talkedMs since its answer, also without the agent */
  ended(owner: SipCallOwner, termination: SipTermination, talkedMs: number): void;
  /** The other side has refused encrypted media, and is called again without. Unset: nobody wants to know. */
  unencrypted?(owner: SipCallOwner): void;
  /** Called once after the end of a connected call that had media. */
  measured(owner: SipCallOwner, figures: SipMediaFigures): void;
}

/** One message of a call, for its log. Answers of digests, passwords and keys of media are masked. */
export interface SipCallMessage {
  readonly direction: "sent" | "received";
  /** ms since 1970. */
  readonly atMs: number;
  readonly transport: "udp" | "tcp" | "tls";
  /** An address with its port, such as `203.0.113.5:5060`; without one where we do not listen. */
  readonly source: string;
  readonly destination: string;
  readonly text: string;
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
  /** Header fields of the INVITE whose names begin with `X-`. Unset: none. */
  readonly headers?: readonly { readonly name: string; readonly value: string }[];
  /** The call of this process with which the new one may be bridged. Unset: none. */
  readonly besideCallId?: string | null;
  /**
   * SRTP of the media, where the signalling is over TLS. `preferred`: whoever refuses it is called again without it.
   * Unset: `required`.
   */
  readonly srtp?: "required" | "preferred" | "off";
  /** Asked before a redirection (302) is followed, which happens once. Unset: it is not followed. */
  readonly mayRedirectTo?: (uri: string) => boolean | Promise<boolean>;
}

export interface SipDialler {
  /**
   * Calls somebody; `connected` or `failed` follows. `isWanted` is asked while it rings: once it is false, the ringing
   * stops. Resolves once the request is on its way, or with the reason why it cannot be sent.
   */
  dial(owner: SipCallOwner, destination: SipDestination, isWanted: () => boolean): Promise<string | null>;
}

/** One request that changes nothing at its destination. */
export interface SipProbe {
  /** A host, `host:port`, or a `sip:` or `sips:` URI. */
  readonly to: string;
  readonly outboundProxy: string | null;
  /** Given: a REGISTER that registers nothing, with the password when it is asked for. Null: OPTIONS. */
  readonly register: {
    readonly username: string;
    readonly authUser: string | null;
    readonly password: string;
  } | null;
  readonly limitMs: number;
}

export interface SipPlace {
  readonly transport: "udp" | "tcp" | "tls";
  /** Address with port. */
  readonly address: string;
}

export type SipProbeOutcome =
  | ({
      readonly kind: "answered";
      readonly status: number;
      readonly reason: string;
      /** Of a challenge that can be answered. */
      readonly realm: string | null;
      readonly software: string | null;
    } & SipPlace)
  | {
      readonly kind: "failed";
      /** `not_found`: no address. `not_allowed`: the address filter. */
      readonly cause: "timeout" | "unreachable" | "not_found" | "not_allowed" | "invalid";
      /** Of the machine, the DNS or TLS, such as `ECONNREFUSED`. */
      readonly code: string | null;
      readonly reason: string;
      /** Null: nothing was sent. */
      readonly tried: SipPlace | null;
    };

export interface SipProber {
  /** Never rejects. */
  probe(probe: SipProbe): Promise<SipProbeOutcome>;
}
