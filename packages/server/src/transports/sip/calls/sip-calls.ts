/** Calls over SIP, from an INVITE to a call with its media, for the application. */

import type {
  OfferDecision,
  SipCallListener,
  SipCallOwner,
  SipDestination,
  SipDialler,
} from "../../../ports/sip-calls.ts";
import { NoLegError, NoPortError } from "../../rtc/peer.ts";
import {
  openAnsweringSipMedia,
  openSipMedia,
  type SipMedia,
  type SipMediaOptions,
} from "../media/sip-media.ts";
import { SdpError } from "../sdp/description.ts";
import type { IncomingInvite, OutgoingInvite, SipUserAgent } from "../user-agent.ts";
import { AnsweredCall } from "./answered-call.ts";
import { terminationOf } from "./termination.ts";

/** How soon a ringing stops after its call is over here. */
const WANTED_INTERVAL_MS = 500;
const HIDDEN_HEADERS: ReadonlySet<string> = new Set(["authorization", "proxy-authorization"]);

export interface SipCallsOptions {
  readonly agent: () => SipUserAgent;
  readonly media: Omit<SipMediaOptions, "owner" | "signallingAddress" | "encryption">;
  readonly listener: SipCallListener;
  /** An error of this code. */
  readonly faulted: (error: unknown) => void;
}

export class SipCalls implements SipDialler {
  readonly #options: SipCallsOptions;

  constructor(options: SipCallsOptions) {
    this.#options = options;
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
      if (!isCanceled()) invite.reject(decision.status, decision.reason);
      return;
    }
    const owner = ownerOf(decision);
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
    const answered = this.#answeredCall(owner, media);
    answered.begin(invite.accept(sdp, answered));
    const hasMedia = invite.offer !== null || (await answered.firstAnswer);
    if (!hasMedia) listener.failed(owner, "UNKNOWN", "the caller has not answered the offer of media");
    else await this.#connect(owner, answered);
  }

  async dial(
    owner: SipCallOwner,
    destination: SipDestination,
    isWanted: () => boolean,
  ): Promise<string | null> {
    const encryption = isSecure(destination.to) ? "required" : "off";
    const media = await openSipMedia({
      ...this.#options.media,
      owner,
      encryption,
      signallingAddress: null,
    });
    try {
      this.#invite(owner, destination, media, isWanted);
      return null;
    } catch (error) {
      await media.close();
      return error instanceof Error ? error.message : String(error);
    }
  }

  #invite(
    owner: SipCallOwner,
    { to, from, credentials, ringLimitMs }: SipDestination,
    media: SipMedia,
    isWanted: () => boolean,
  ): void {
    const { agent, listener } = this.#options;
    const options = { to, from, credentials, offer: media.offer(), ringLimitMs };
    const invite: OutgoingInvite = agent().invite(options, {
      progressed: () => undefined,
      failed: (failure) => {
        clearInterval(watch);
        void media.close();
        const { status, reason } = failure;
        listener.failed(owner, terminationOf(failure), `${String(status)} ${reason}`);
      },
      answered: (call, sdp) => {
        clearInterval(watch);
        const answered = this.#answeredCall(owner, media);
        answered.begin(call);
        try {
          media.accept(sdp);
        } catch (error) {
          if (!(error instanceof SdpError)) this.#options.faulted(error);
          listener.failed(owner, "UNKNOWN", "the answer has no media that can be used");
          // The listener of the call is returned first.
          queueMicrotask(() => answered.hangUp());
          return answered;
        }
        void this.#connect(owner, answered);
        return answered;
      },
    });
    const watch = setInterval(() => {
      if (isWanted()) return;
      clearInterval(watch);
      invite.cancel();
    }, WANTED_INTERVAL_MS);
  }

  #answeredCall(owner: SipCallOwner, media: SipMedia): AnsweredCall {
    return new AnsweredCall(media, (termination) => this.#options.listener.ended(owner, termination));
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
        const media = await openSipMedia(options);
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

function isSecure(uri: string): boolean {
  return /^sips:/i.test(uri) || /;transport=tls\b/i.test(uri);
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
