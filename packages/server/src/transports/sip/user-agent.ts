/**
 * The user agent as the application uses it: calls in and out, registrations, checks. Session descriptions (SDP) are
 * opaque texts here. Nothing throws for what a peer does; a call of a function in the wrong state throws.
 */

export type SipTransportName = "udp" | "tcp" | "tls";

/** Where a message came from, as the socket says. */
export interface SipSource {
  readonly transport: SipTransportName;
  /** An IP address without brackets; an IPv4 address that came over an IPv6 socket is in IPv4 form. */
  readonly address: string;
  readonly port: number;
}

/** A header field as the application reads or adds it. Names are compared without case. */
export interface SipHeader {
  readonly name: string;
  readonly value: string;
}

export interface SipCredentials {
  readonly username: string;
  readonly password: string;
}

export interface SipUserAgent {
  /** Sends an INVITE. Its events come after this function has returned. */
  invite(options: OutgoingInviteOptions, listener: OutgoingInviteListener): OutgoingInvite;
  /** Registers now and keeps the registration fresh until it is closed. */
  register(options: RegistrationOptions, listener: RegistrationListener): SipRegistration;
  /** One request for the check of a trunk: OPTIONS, or a REGISTER that registers nothing. @throws for a wrong URI */
  ping(options: PingOptions): Promise<PingOutcome>;
  /** Addresses that the sockets are bound to; port 0 in the options has become a number. */
  readonly bound: readonly SipSource[];
  /**
   * Ends calls with BYE, cancels and rejects the open INVITEs, removes registrations, then closes the sockets. Peers
   * that do not answer delay it by `CLOSE_LIMIT_MS` at most.
   */
  close(): Promise<void>;
}

/** What the whole user agent reports. */
export interface UserAgentListener {
  /**
   * A new INVITE, from any source: the application decides who may call. 100 has been sent. One of `accept` and
   * `reject` is to be called within `ANSWER_LIMIT_MS`, else the answer is 480. A caller that is not authorised gets
   * `reject(403)`, and nothing else.
   */
  invited(invite: IncomingInvite): void;
  /** One message of a call, a registration or a ping was sent or received. Secrets and keys are masked. */
  logged(entry: SipLogEntry): void;
  /** No `logged` follows for this one: some 32 s after its end, since messages may be repeated. */
  logEnded?(owner: SipLogOwner): void;
  /** An exception of a listener or of this code, while a message or a timer was worked on. */
  faulted(error: Error): void;
}

/** What messages belong to. */
export interface SipLogOwner {
  /** `id` of the invite, the registration or the ping. */
  readonly id: string;
  readonly kind: "invite" | "registration" | "ping";
}

export interface SipLogEntry extends SipLogOwner {
  readonly direction: "sent" | "received";
  /** Wall clock, ms since 1970. */
  readonly atMs: number;
  readonly peer: SipSource;
  /** Where peers reach us by this transport; no port: we do not listen there. */
  readonly own: { readonly address: string; readonly port: number | null };
  /** The message in our spelling of its header names, with masked parts; at most `MAX_LOGGED_CHARS`. */
  readonly text: string;
}

// --- incoming calls

export interface IncomingInvite {
  /** Unique within this process; the id of log entries, and of the call that `accept` returns. */
  readonly id: string;
  /** `Call-ID` header. */
  readonly callId: string;
  readonly source: SipSource;
  /** The registration of ours by which it came: the Request-URI is the contact that was registered. Else null. */
  readonly registrationId: string | null;
  readonly requestUri: string;
  /** User part of the Request-URI, without escapes; empty when there is none. By a registration: its `username`. */
  readonly user: string;
  /** Host of the Request-URI, in lower case, without a port. */
  readonly host: string;
  readonly toUri: string;
  readonly fromUri: string;
  /** User part of the From URI, without escapes: the caller's number for most peers. */
  readonly callerId: string;
  readonly fromDisplayName: string | null;
  /** All header fields in their order; names in lower case and in long form. */
  readonly headers: readonly SipHeader[];
  /** SDP, or null: the peer wants our offer, which is then the argument of `accept`. */
  readonly offer: string | null;
  /** 180, or 183 with a description for early media. Sent reliably where the peer requires it. */
  progress(status: 180 | 183, sdp?: string): void;
  /**
   * 200 with an answer to `offer`, or with an offer when that is null. It is repeated until the ACK. Throws when the
   * invite is over; `canceled` was called then.
   */
  accept(sdp: string, listener: SipCallListener): SipCall;
  /** @param status 300 to 699; `headers` such as Retry-After */
  reject(status: number, reason?: string, headers?: readonly SipHeader[]): void;
  /** Called once when the caller gives up (CANCEL, BYE) or `ANSWER_LIMIT_MS` has passed, and not after an answer. */
  onCanceled(canceled: () => void): void;
}

// --- outgoing calls

export interface OutgoingInviteOptions {
  /** `sip:` or `sips:` URI, with `;transport=tcp` or `tls` where it is not UDP. */
  readonly to: string;
  /** A URI, or a name-addr such as `"Support" <sip:support@example.com>`. */
  readonly from: string;
  readonly credentials: SipCredentials | null;
  /** A `sip:` URI that the request goes to first, as a loose route. */
  readonly outboundProxy?: string | null;
  /** SDP offer. */
  readonly offer: string;
  /** Added to the INVITE. Fields that the protocol itself needs are refused with an error. */
  readonly headers?: readonly SipHeader[];
  /** Without a final answer for this long the call fails with 408. Default and most: `RING_LIMIT_MS`. */
  readonly ringLimitMs?: number;
  /**
   * Asked before a 302 is followed, which happens once. Default: not followed. Credentials are not sent to another
   * host.
   */
  readonly mayRedirectTo?: (uri: string) => boolean | Promise<boolean>;
}

export interface OutgoingInvite {
  readonly id: string;
  readonly callId: string;
  /** Gives up: CANCEL, or BYE when the answer was on its way. `failed` follows, with the cause `canceled`. */
  cancel(): void;
}

/** Exactly one of `answered` and `failed` is called, once. */
export interface OutgoingInviteListener {
  /** 180 to 183. A description in it was kept or ignored: early media are not played. */
  progressed(status: number, reason: string): void;
  /** 200 was acknowledged. @param answer SDP. Returns the listener for what happens next. */
  answered(call: SipCall, answer: string): SipCallListener;
  failed(failure: SipFailure): void;
}

export interface SipFailure {
  /**
   * - `response`: the peer's final response, with its status
   * - `timeout`: no response (408)
   * - `unreachable`: no address, no connection, an ICMP error (503)
   * - `refused_target`: the address is one that requests may not go to (403)
   * - `canceled`: `cancel()` (487)
   * - `protocol`: a 200 without SDP and the like (488)
   */
  readonly cause: "response" | "timeout" | "unreachable" | "refused_target" | "canceled" | "protocol";
  /** The SIP status, or the one in brackets above. */
  readonly status: number;
  /** Reason phrase or an explanation; from the network, so at most `MAX_REASON_CHARS` characters. */
  readonly reason: string;
  readonly retryAfterMs: number | null;
  /** Of the machine, the DNS or TLS, such as `ECONNREFUSED`; absent: there is none. */
  readonly code?: string;
  /** The address that was tried last; absent: none was found, or it has answered. */
  readonly tried?: SipSource;
}

// --- a call after its answer, in both directions

export interface SipCall {
  /** That of its invite. */
  readonly id: string;
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  /** Target of requests to the peer: its Contact. */
  readonly remoteUri: string;
  /**
   * A new offer of ours by re-INVITE (hold, resume, another codec). A glare (491) is retried. Throws when an offer of
   * ours is under way.
   */
  offer(sdp: string): Promise<OfferOutcome>;
  /** An INFO request, such as `application/dtmf-relay`. */
  info(contentType: string, body: string): Promise<SipOutcome>;
  /**
   * Asks the peer to call `to` in our place. `to` may have a `Replaces` header parameter, which names a call of ours
   * that the new one takes over (attended transfer). Throws for what is no SIP or tel URI, and for header fields that
   * are not to be given.
   */
  refer(to: string, listener: ReferListener, options?: ReferOptions): void;
  /** BYE. Nothing is called afterwards except `ended`, once. */
  hangUp(): void;
}

export type OfferOutcome =
  | { readonly kind: "answered"; readonly sdp: string }
  | { readonly kind: "refused"; readonly status: number; readonly reason: string };

/** Of one request: the final response, or why there is none. */
export type SipOutcome =
  | { readonly kind: "response"; readonly status: number; readonly reason: string }
  | { readonly kind: "failed"; readonly failure: SipFailure };

export interface SipCallListener {
  /**
   * An offer by re-INVITE or UPDATE: hold, resume, another codec. Resolves with the answer, or null: 488, and all stays
   * as it was.
   */
  offered(sdp: string): Promise<string | null> | string | null;
  /** A re-INVITE without SDP: our offer is wanted. `answered` follows. */
  offerWanted(): Promise<string | null> | string | null;
  /**
   * The answer to an offer that was sent in a 200, after `accept` without an offer and after `offerWanted`; and to the
   * unchanged description with which a call is refreshed.
   */
  answered(sdp: string): void;
  /** A key by INFO. Tones in the media are not known here. */
  digit(key: string, durationMs: number): void;
  /** The peer wants the call to go elsewhere. */
  referred(refer: IncomingRefer): void;
  /** The call is over; called once, also after `hangUp`. */
  ended(end: SipCallEnd): void;
}

export interface SipCallEnd {
  /**
   * - `remote`: BYE of the peer
   * - `local`: `hangUp`, or `close` of the user agent
   * - `unanswered`: no ACK came for the 200
   * - `expired`: no refresh in time (RFC 4028)
   * - `failed`: a request in the call was answered by 408 or 481, or could not be sent
   */
  readonly cause: "remote" | "local" | "unanswered" | "expired" | "failed";
  /** `Reason` header of the BYE, at most `MAX_REASON_CHARS` characters. */
  readonly reason: string | null;
}

export interface ReferOptions {
  /** Added to the REFER. */
  readonly headers?: readonly SipHeader[];
  /** Without a final status for this long the transfer has failed with 408. Default and most: 3 minutes. */
  readonly limitMs?: number;
}

export interface ReferListener {
  /** The peer's response to REFER: 202, or a refusal after which nothing follows. */
  responded(status: number, reason: string): void;
  /**
   * A status line of the new call, by NOTIFY. `isFinal`: nothing follows. A subscription that ends early gives 408; so
   * does the end of the call, after `ended`.
   */
  progressed(status: number, reason: string, isFinal: boolean): void;
}

export interface IncomingRefer {
  /** `sip:` or `sips:` URI of Refer-To, or `tel:`; without the header parameters that it may carry. */
  readonly to: string;
  readonly referredBy: string | null;
  /** True: the target names a call that is to be replaced (attended transfer), which we do not do. */
  readonly hasReplaces: boolean;
  /** It waits for `accept` or `reject`, which throw when it does not. */
  readonly isOpen: boolean;
  /** 202, then NOTIFY with 100. A REFER that is not answered within `REFER_ANSWER_LIMIT_MS` gets 480. */
  accept(): void;
  /** 603 for a policy; 400 to 699. Default of `reason`: that of the status. */
  reject(status: number, reason?: string): void;
  /**
   * After `accept`: NOTIFY with the status of the new call; 200 and more ends the subscription. Nothing is sent where
   * the peer wants no subscription (`Refer-Sub: false`).
   */
  notify(status: number, reason: string): void;
}

// --- registrations and checks

export interface RegistrationOptions {
  /** Ours: it is in `registrationId` of invites. */
  readonly id: string;
  readonly username: string;
  readonly password: string;
  /** User name of the digest where it is another one. */
  readonly authUser?: string | null;
  /** Host, `host:port` or `sip:` URI of the registrar. */
  readonly registrar: string;
  readonly outboundProxy?: string | null;
}

export interface RegistrationListener {
  /** After each attempt. */
  changed(state: RegistrationState): void;
}

export interface RegistrationState {
  readonly successful: boolean;
  /** The last status; for a request without a response see `SipFailure`. */
  readonly status: number;
  readonly reason: string;
  /** Until the next attempt. */
  readonly nextInMs: number;
  /** IP address that the response came from; null: there was none. */
  readonly address: string | null;
}

export interface SipRegistration {
  /** Removes the registration (Expires: 0). Resolves when the registrar has answered or is not going to. */
  close(): Promise<void>;
}

export interface PingOptions {
  /** Id of log entries. */
  readonly id: string;
  /** `sip:` or `sips:` URI; of the registrar where `register` is given. */
  readonly to: string;
  readonly credentials?: SipCredentials | null;
  readonly outboundProxy?: string | null;
  /** Given: a REGISTER without Contact for this user, which asks for what is registered. Absent: OPTIONS. */
  readonly register?: { readonly username: string };
  /** Until it fails with `timeout`. Default: `PING_LIMIT_MS`. */
  readonly limitMs?: number;
}

export type PingOutcome =
  | {
      readonly kind: "response";
      readonly status: number;
      readonly reason: string;
      /** Where the response came from. */
      readonly peer: SipSource;
      /** Of the challenge in a 401 or 407; null: there is none that can be answered. */
      readonly realm: string | null;
      /** What the peer says about itself in `Server` or `User-Agent`. */
      readonly software: string | null;
    }
  | { readonly kind: "failed"; readonly failure: SipFailure };
