/** INVITEs of ours with their media: for new calls, and for people who take the place of a far side. */

import { isIP } from "node:net";
import type { SipTermination } from "@parley/schema";
import type { SipCallOwner, SipDestination } from "../../../ports/sip-calls.ts";
import type { ReferralListener } from "../../../ports/sip/sip-transfers.ts";
import { openSipMedia, type SipMedia, type SipMediaOptions } from "../media/sip-media.ts";
import { parseUri } from "../message/uri.ts";
import { SdpError } from "../sdp/description.ts";
import type { IncomingRefer, SipCall, SipCallListener, SipFailure, SipUserAgent } from "../user-agent.ts";
import type { AnsweredCall } from "./answered-call.ts";
import type { CallMessages } from "./call-messages.ts";
import { terminationOf } from "./termination.ts";

/** How soon a ringing stops after its call is over here. */
const WANTED_INTERVAL_MS = 500;
/** Whoever wanted the call to go elsewhere ends it with us after the answer (RFC 5589, 6.1); else we do. */
const FORMER_LIMIT_MS = 5_000;
/** What is left for the second try of a call whose encryption was refused late. */
const LEAST_RING_MS = 1_000;
/** Statuses of a new call that are passed on before the final one: 180 to 183. */
const MOST_PROGRESS = 4;
/** Refusals of the description: of its encryption, as far as that can be known (RFC 3261, 21.4.26 and 21.6.4). */
const DESCRIPTION_REFUSED: ReadonlySet<number> = new Set([488, 606]);

/** What becomes of a call that is dialled. One of the first two is called, once. */
export interface DialListener {
  answered(call: AnsweredCall): void;
  failed(termination: SipTermination, detail: string): void;
  ended(termination: SipTermination, talkedMs: number): void;
}

export interface DialParts {
  readonly agent: () => SipUserAgent;
  readonly media: Omit<SipMediaOptions, "owner" | "signallingAddress" | "encryption">;
  readonly messages: CallMessages;
  readonly unencrypted: (owner: SipCallOwner) => void;
  readonly faulted: (error: unknown) => void;
  readonly answeredCall: (
    owner: SipCallOwner,
    parts: { readonly media: SipMedia; readonly peerUri: string },
    ended: DialListener["ended"],
  ) => AnsweredCall;
}

type Encryption = "required" | "off";

interface Placed {
  readonly offer: string;
  readonly isWanted: () => boolean;
  readonly progressed?: (status: number, reason: string) => void;
  readonly failed: (failure: SipFailure) => void;
  readonly answered: (call: SipCall, sdp: string) => SipCallListener;
}

export class Dials {
  readonly #parts: DialParts;

  constructor(parts: DialParts) {
    this.#parts = parts;
  }

  /** Resolves once the INVITE is on its way, or with the reason why it cannot be sent. */
  dial(
    owner: SipCallOwner,
    destination: SipDestination,
    isWanted: () => boolean,
    listener: DialListener,
  ): Promise<string | null> {
    return this.#dial(firstEncryption(destination), owner, destination, isWanted, listener);
  }

  async #dial(
    encryption: Encryption,
    owner: SipCallOwner,
    destination: SipDestination,
    isWanted: () => boolean,
    listener: DialListener,
  ): Promise<string | null> {
    const { to, besideCallId = null } = destination;
    const media = await openSipMedia({
      ...towards(this.#parts.media, parseUri(to)?.host ?? ""),
      owner: { ...owner, besideCallId },
      encryption,
      signallingAddress: null,
    });
    const beganMs = performance.now();
    const failed = (failure: SipFailure): void => {
      const closed = media.close();
      const second = nextEncryption(encryption, destination, failure);
      if (second === null || !isWanted()) {
        listener.failed(terminationOf(failure), detailOf(failure));
        return;
      }
      this.#parts.unencrypted(owner);
      const again = shortened(destination, performance.now() - beganMs);
      void closed
        .then(() => this.#dial(second, owner, again, isWanted, listener))
        .then(
          (problem) => (problem === null ? undefined : listener.failed("UNKNOWN", problem)),
          (error: unknown) => listener.failed("UNKNOWN", errorText(error)),
        );
    };
    const answered = (call: SipCall, sdp: string): SipCallListener => {
      const made = this.#parts.answeredCall(owner, { media, peerUri: to }, (termination, talkedMs) =>
        listener.ended(termination, talkedMs),
      );
      made.begin(call);
      const own = made.listener;
      if (this.#accepts(() => media.accept(sdp))) {
        listener.answered(made);
        return own;
      }
      listener.failed("UNKNOWN", "the answer has no media that can be used");
      // The listener of the call is returned first.
      queueMicrotask(() => made.hangUp());
      return own;
    };
    try {
      this.#place(owner, destination, { offer: media.offer(), isWanted, failed, answered });
      return null;
    } catch (error) {
      await media.close();
      return errorText(error);
    }
  }

  /** Calls somebody in the place of the far side of a call, as it has wanted by a REFER. */
  follow(
    call: AnsweredCall,
    refer: IncomingRefer,
    destination: SipDestination,
    listener: ReferralListener,
  ): void {
    if (!refer.isOpen || !call.beginMove()) {
      if (refer.isOpen) refer.reject(491);
      listener.failed("CANCELED", "the call is over, or is being transferred");
      return;
    }
    refer.accept();
    this.#follow(firstEncryption(destination), call, refer, destination, listener);
  }

  #follow(
    encryption: Encryption,
    call: AnsweredCall,
    refer: IncomingRefer,
    destination: SipDestination,
    listener: ReferralListener,
  ): void {
    const media = call.successor(encryption);
    const beganMs = performance.now();
    const gaveUp = (status: number, reason: string, termination: SipTermination, detail: string): void => {
      refer.notify(status, reason);
      call.notMoved();
      listener.failed(termination, detail);
    };
    const failed = (failure: SipFailure): void => {
      const second = nextEncryption(encryption, destination, failure);
      if (second === null || call.isOver) {
        gaveUp(failure.status, failure.reason, terminationOf(failure), detailOf(failure));
        return;
      }
      this.#parts.unencrypted(call.owner);
      this.#follow(second, call, refer, shortened(destination, performance.now() - beganMs), listener);
    };
    const answered = (made: SipCall, sdp: string): SipCallListener => {
      if (call.isOver || !this.#accepts(() => media.accept(sdp))) {
        gaveUp(488, "Not Acceptable Here", "UNKNOWN", "the answer has no media that can be used");
        queueMicrotask(() => made.hangUp());
        return unheard(made);
      }
      const atMs = performance.now();
      const former = call.moved(made);
      const own = call.listener;
      refer.notify(200, "OK");
      setTimeout(() => former?.hangUp(), FORMER_LIMIT_MS).unref();
      listener.answered();
      return {
        ...own,
        ended: (end) => {
          const isRegular = end.cause === "remote" || end.cause === "local";
          listener.ended(isRegular ? "NORMAL" : "UNKNOWN", performance.now() - atMs);
          own.ended(end);
        },
      };
    };
    const isWanted = (): boolean => !call.isOver;
    // Whoever is called may send any number of them, and each NOTIFY is a transaction of ours.
    const told = new Set<number>();
    const progressed = (status: number, reason: string): void => {
      if (told.has(status) || told.size >= MOST_PROGRESS) return;
      told.add(status);
      refer.notify(status, reason);
    };
    try {
      this.#place(call.owner, destination, { offer: media.offer(), isWanted, progressed, failed, answered });
    } catch (error) {
      gaveUp(500, "Server Internal Error", "UNKNOWN", errorText(error));
    }
  }

  /** @throws for a destination that is not well-formed */
  #place(owner: SipCallOwner, destination: SipDestination, placed: Placed): void {
    const { agent, messages } = this.#parts;
    const { to, from, credentials, ringLimitMs, headers = [], mayRedirectTo } = destination;
    const { offer, isWanted, progressed = () => undefined } = placed;
    const redirection = mayRedirectTo === undefined ? {} : { mayRedirectTo };
    const options = { to, from, credentials, offer, ringLimitMs, headers, ...redirection };
    const invite = agent().invite(options, {
      progressed,
      failed: (failure) => {
        clearInterval(watch);
        placed.failed(failure);
      },
      answered: (call, sdp) => {
        clearInterval(watch);
        return placed.answered(call, sdp);
      },
    });
    messages.begun(invite.id, owner);
    const watch = setInterval(() => {
      if (isWanted()) return;
      clearInterval(watch);
      invite.cancel();
    }, WANTED_INTERVAL_MS);
  }

  /** False: the answer has no media that can be used. */
  #accepts(accept: () => void): boolean {
    try {
      accept();
      return true;
    } catch (error) {
      if (!(error instanceof SdpError)) this.#parts.faulted(error);
      return false;
    }
  }
}

/** Of a call that is ended as soon as it was answered. */
function unheard(call: SipCall): SipCallListener {
  return {
    offered: () => null,
    offerWanted: () => null,
    answered: () => call.hangUp(),
    digit: () => undefined,
    referred: (refer) => refer.reject(603),
    ended: () => undefined,
  };
}

function firstEncryption({ to, srtp = "required" }: SipDestination): Encryption {
  return isSecure(to) && srtp !== "off" ? "required" : "off";
}

/** Null: it is not tried again. Nobody but the peer behind TLS can have refused the description. */
function nextEncryption(
  tried: Encryption,
  { srtp }: SipDestination,
  { cause, status }: SipFailure,
): Encryption | null {
  const isRefused = cause === "response" && DESCRIPTION_REFUSED.has(status);
  return tried === "required" && srtp === "preferred" && isRefused ? "off" : null;
}

function shortened(destination: SipDestination, passedMs: number): SipDestination {
  return { ...destination, ringLimitMs: Math.max(LEAST_RING_MS, destination.ringLimitMs - passedMs) };
}

function detailOf({ status, reason }: SipFailure): string {
  return `${String(status)} ${reason}`;
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** With addresses of the family of the peer alone, where it is known: an offer has one address. */
export function towards<Options extends Pick<SipMediaOptions, "ipv4" | "ipv6">>(
  options: Options,
  host: string,
): Options {
  const family = isIP(host);
  if (family === 6 && options.ipv6 !== null) return { ...options, ipv4: null };
  return family === 4 && options.ipv4 !== null ? { ...options, ipv6: null } : options;
}

/** By what the URI says; where the DNS alone chooses TLS, media are not encrypted. */
function isSecure(text: string): boolean {
  const uri = parseUri(text);
  return uri?.scheme === "sips" || uri?.parameters.get("transport")?.toLowerCase() === "tls";
}
