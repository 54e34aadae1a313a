/** Calls over SIP, from an INVITE to a call with its media, for the application. */

import type { SipTermination } from "@parley/schema";
import type {
  OfferDecision,
  SipCallListener,
  SipCallMessage,
  SipCallOwner,
  SipDestination,
  SipDialler,
} from "../../../ports/sip-calls.ts";
import type {
  AsideCall,
  AsideOutcome,
  SipReferral,
  SipTransfers,
  TransferableCall,
} from "../../../ports/sip/sip-transfers.ts";
import { NoLegError, NoPortError } from "../../rtc/peer.ts";
import {
  openAnsweringSipMedia,
  openSipMedia,
  type SipMedia,
  type SipMediaOptions,
} from "../media/sip-media.ts";
import { SdpError } from "../sdp/description.ts";
import { hostPortText } from "../message/uri.ts";
import type {
  IncomingInvite,
  IncomingRefer,
  SipLogEntry,
  SipLogOwner,
  SipSource,
  SipUserAgent,
} from "../user-agent.ts";
import { AnsweredCall } from "./answered-call.ts";
import { CallMessages } from "./call-messages.ts";
import { type DialListener, Dials, towards } from "./dials.ts";

/** As for a call that was joined. */
const TAKEN_STATUS = 404;
const HIDDEN_HEADERS: ReadonlySet<string> = new Set(["authorization", "proxy-authorization"]);

export interface SipCallsOptions {
  readonly agent: () => SipUserAgent;
  readonly media: Omit<SipMediaOptions, "owner" | "signallingAddress" | "encryption">;
  readonly listener: SipCallListener;
  /** The far side of a call wants it to go elsewhere. Unset: it is refused with 603. */
  readonly referred?: (referral: SipReferral, call: TransferableCall) => void;
  /** A message of a call was sent or received. */
  readonly messaged: (owner: SipCallOwner, message: SipCallMessage) => void;
  /** A call that came in was refused before it was one of the application. */
  readonly refused: (status: number, sourceAddress: string) => void;
  /** An error of this code. */
  readonly faulted: (error: unknown) => void;
}

export class SipCalls implements SipDialler, SipTransfers {
  readonly #options: SipCallsOptions;
  /** Those that are answered, by the id of the call. */
  readonly #calls = new Map<string, AnsweredCall>();
  /** Calls for which an INVITE came in, until they are connected or have failed. */
  readonly #taken = new Set<string>();
  readonly #messages: CallMessages;
  readonly #dials: Dials;

  constructor(options: SipCallsOptions) {
    const { agent, media, listener, faulted } = options;
    this.#options = options;
    const messages = new CallMessages(options.messaged);
    this.#messages = messages;
    this.#dials = new Dials({
      agent,
      media,
      messages,
      unencrypted: (owner) => listener.unencrypted?.(owner),
      faulted,
      answeredCall: (owner, parts, ended) => this.#answeredCall(owner, parts, ended),
    });
  }

  /** A message of the user agent. */
  logged(entry: SipLogEntry): void {
    this.#messages.logged(entry);
  }

  logEnded(owner: SipLogOwner): void {
    this.#messages.logEnded(owner);
  }

  /** An INVITE came in. */
  invited(invite: IncomingInvite): void {
    let isCanceled = false;
    invite.onCanceled(() => {
      isCanceled = true;
    });
    this.#answer(invite, () => isCanceled).catch((error: unknown) => {
      this.#options.faulted(error);
      if (!isCanceled) invite.reject(500);
    });
  }

  async #answer(invite: IncomingInvite, isCanceled: () => boolean): Promise<void> {
    const { listener } = this.#options;
    const decision = await listener.offered(offeredOf(invite));
    if (decision.kind === "refused") {
      this.#messages.refused(invite.id);
      this.#options.refused(decision.status, invite.source.address);
      if (!isCanceled()) invite.reject(decision.status, decision.reason);
      return;
    }
    const owner = ownerOf(decision);
    if (this.#taken.has(owner.callId) || this.#calls.has(owner.callId)) {
      // Somebody else has called it first.
      this.#messages.refused(invite.id);
      this.#options.refused(TAKEN_STATUS, invite.source.address);
      if (!isCanceled()) invite.reject(TAKEN_STATUS);
      return;
    }
    this.#taken.add(owner.callId);
    try {
      await this.#take(invite, owner, isCanceled);
    } finally {
      this.#taken.delete(owner.callId);
    }
  }

  async #take(invite: IncomingInvite, owner: SipCallOwner, isCanceled: () => boolean): Promise<void> {
    const { listener } = this.#options;
    this.#messages.owned(invite.id, owner);
    const opened = await this.#openFor(invite, owner).catch((error: unknown) => {
      listener.failed(owner, "UNKNOWN", "its media could not be opened");
      throw error;
    });
    if ("status" in opened) {
      listener.failed(owner, "REJECTED", opened.reason);
      if (!isCanceled()) invite.reject(opened.status);
      return;
    }
    const { media, sdp } = opened;
    if (isCanceled()) {
      await media.close();
      listener.failed(owner, "CANCELED", "the caller gave up before the answer");
      return;
    }
    await this.#accept(invite, owner, media, sdp);
  }

  async #accept(invite: IncomingInvite, owner: SipCallOwner, media: SipMedia, sdp: string): Promise<void> {
    const { listener } = this.#options;
    const peerUri = uriOfSource(invite.source);
    const answered = this.#answeredCall(owner, { media, peerUri }, (termination, talkedMs) =>
      listener.ended(owner, termination, talkedMs),
    );
    answered.begin(invite.accept(sdp, answered.listener));
    const hasMedia = invite.offer !== null || (await answered.firstAnswer);
    if (!hasMedia) listener.failed(owner, "UNKNOWN", "the caller has not answered the offer of media");
    else await this.#connect(owner, answered);
  }

  async dial(
    owner: SipCallOwner,
    destination: SipDestination,
    isWanted: () => boolean,
  ): Promise<string | null> {
    const { listener } = this.#options;
    return this.#dials.dial(owner, destination, isWanted, {
      answered: (call) => void this.#connect(owner, call),
      failed: (termination, detail) => listener.failed(owner, termination, detail),
      ended: (termination, talkedMs) => listener.ended(owner, termination, talkedMs),
    });
  }

  callOf(callId: string): TransferableCall | null {
    return this.#calls.get(callId) ?? null;
  }

  dialAside(
    owner: SipCallOwner,
    destination: SipDestination,
    ended: (termination: SipTermination, talkedMs: number) => void,
  ): AsideCall {
    const { promise: outcome, resolve } = Promise.withResolvers<AsideOutcome>();
    let isWanted = true;
    const failed = (termination: SipTermination, detail: string): void =>
      resolve({ kind: "failed", termination, detail });
    this.#dials
      .dial(owner, destination, () => isWanted, {
        answered: (call) => {
          call.openAside();
          resolve({ kind: "answered", call });
          // Nobody may be there any more who could do something with it.
          if (!isWanted) call.hangUp();
        },
        failed,
        ended,
      })
      .then(
        (problem) => (problem === null ? undefined : failed("UNKNOWN", problem)),
        (error: unknown) => failed("UNKNOWN", error instanceof Error ? error.message : String(error)),
      );
    return { outcome, cancel: () => (isWanted = false) };
  }

  #answeredCall(
    owner: SipCallOwner,
    { media, peerUri }: { readonly media: SipMedia; readonly peerUri: string },
    ended: DialListener["ended"],
  ): AnsweredCall {
    const { referred, faulted } = this.#options;
    const call = new AnsweredCall({
      owner,
      media,
      peerUri,
      measured: (figures) => this.#options.listener.measured(owner, figures),
      referred: (refer, of) =>
        referred === undefined ? refer.reject(603) : referred(this.#referralOf(refer, of), of),
      faulted,
      ended: (termination, talkedMs) => {
        if (this.#calls.get(owner.callId) === call) this.#calls.delete(owner.callId);
        ended(termination, talkedMs);
      },
    });
    this.#calls.set(owner.callId, call);
    return call;
  }

  #referralOf(refer: IncomingRefer, call: AnsweredCall): SipReferral {
    const { to, hasReplaces } = refer;
    return {
      to,
      hasReplaces,
      // The far side has hung up, or has waited too long for an answer.
      refuse: (status, reason) => (refer.isOpen ? refer.reject(status, reason) : undefined),
      follow: (destination, listener) => this.#dials.follow(call, refer, destination, listener),
    };
  }

  async #connect(owner: SipCallOwner, answered: AnsweredCall): Promise<void> {
    const isConnected = await this.#options.listener.connected(owner, answered.open);
    if (!isConnected) answered.hangUp();
  }

  /** The media of a call that comes in, or the status of the refusal. */
  async #openFor(
    { offer, source }: IncomingInvite,
    owner: SipCallOwner,
  ): Promise<
    { readonly media: SipMedia; readonly sdp: string } | { readonly status: number; readonly reason: string }
  > {
    const options: SipMediaOptions = {
      ...this.#options.media,
      owner,
      encryption: source.transport === "tls" ? "allowed" : "off",
      signallingAddress: source.address,
    };
    try {
      if (offer === null) {
        const media = await openSipMedia(towards(options, source.address));
        return { media, sdp: media.offer() };
      }
      const { media, answer } = await openAnsweringSipMedia(offer, options);
      return { media, sdp: answer };
    } catch (error) {
      if (error instanceof SdpError) return { status: 488, reason: `the offer ${error.message}` };
      if (error instanceof NoPortError || error instanceof NoLegError) {
        return { status: 503, reason: "there is no port or thread for its media" };
      }
      throw error;
    }
  }
}

/** The port of a connection is that of its other end, where nobody listens. */
function uriOfSource({ transport, address, port }: SipSource): string {
  const host = hostPortText(address, transport === "udp" ? port : null);
  return `sip:${host}${transport === "udp" ? "" : `;transport=${transport}`}`;
}

function ownerOf({ callId, accountId }: Extract<OfferDecision, { kind: "accepted" }>): SipCallOwner {
  return { callId, accountId };
}

function offeredOf(invite: IncomingInvite) {
  const { source, registrationId, user, host, toUri, fromUri, callerId, fromDisplayName, headers } = invite;
  return {
    sourceAddress: source.address,
    registrationId,
    user,
    host,
    toUri,
    fromUri,
    callerId,
    fromDisplayName,
    headers: headers.filter(({ name }) => !HIDDEN_HEADERS.has(name)),
  };
}
