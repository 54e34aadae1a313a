/** A call after its answer: sends each request of the peer to its part, and ends once. */

import { errorOf } from "../../../pacing/error-text.ts";
import { dialogKey, withRemoteCseq, type Dialog } from "../dialogs/dialog.ts";
import type { RefreshTimer } from "../dialogs/refresh-timer.ts";
import type { Authorizer } from "../digest/authorizer.ts";
import { headerOf, tokensOf } from "../message/headers.ts";
import type { SipRequest, SipResponse } from "../message/message.ts";
import { MAX_REASON_CHARS } from "../message/parse.ts";
import type { ServerTransaction } from "../transactions/server-transaction.ts";
import type { Hop } from "../transactions/wire.ts";
import type {
  OfferOutcome,
  ReferListener,
  ReferOptions,
  SipCall,
  SipCallEnd,
  SipCallListener,
  SipHeader,
  SipOutcome,
} from "../user-agent.ts";
import type { CallParts } from "./call-parts.ts";
import { ABILITIES, ALLOW, OTHER_METHODS, type AgentContext } from "./context.ts";
import { DialogLine } from "./dialog-line.ts";
import { readDigit } from "./info-digits.ts";
import { OwnOffers } from "./own-offers.ts";
import { PeerOffers } from "./peer-offers.ts";
import { Referrals } from "./referrals.ts";
import { RefreshWatch } from "./refresh-watch.ts";

export interface CallOptions {
  readonly id: string;
  readonly dialog: Dialog;
  readonly flow: Hop;
  readonly authorizer: Authorizer;
  readonly contact: SipHeader;
  readonly isCaller: boolean;
  readonly localSdp: string;
  readonly refresh: RefreshTimer | null;
  /** The INVITE or the 200 of the peer, which says what it can do. */
  readonly peerMessage: SipRequest | SipResponse;
  /** Called once: nothing of the call comes any more. */
  readonly forgotten?: () => void;
}

export class Call implements SipCall {
  readonly #context: AgentContext;
  readonly #parts: CallParts;
  readonly #own: OwnOffers;
  readonly #peer: PeerOffers;
  readonly #referrals: Referrals;
  readonly #key: string;
  readonly #forgotten: () => void;
  readonly id: string;
  #listener: SipCallListener | null = null;
  #isOver = false;
  /** The BYE waits for the ACK, which a callee must have first (RFC 3261, 15). */
  #isByeDeferred = false;

  constructor(context: AgentContext, options: CallOptions) {
    const { id, dialog, flow, authorizer, contact, isCaller, localSdp, refresh, peerMessage } = options;
    const line = new DialogLine(context, dialog, flow, authorizer);
    const watch = new RefreshWatch(
      context.clock,
      () => {
        this.#own.refresh();
      },
      () => {
        this.finish("expired", null);
      },
    );
    this.#context = context;
    this.id = id;
    this.#parts = {
      clock: context.clock,
      random: context.random,
      line,
      watch,
      contact,
      isCaller,
      listener: () => {
        if (this.#listener === null) throw new Error("the call has no listener yet");
        return this.#listener;
      },
      isOffering: () => this.#own.isSent,
      isPeerBusy: () => this.#peer.isBusy,
      call: this,
      localSdp,
      peerAllowsUpdate: tokensOf(peerMessage, "allow").includes("update"),
    };
    this.#own = new OwnOffers(this.#parts);
    this.#peer = new PeerOffers(this.#parts);
    this.#referrals = new Referrals(this.#parts);
    this.#forgotten = options.forgotten ?? (() => undefined);
    this.#key = dialogKey(dialog.callId, dialog.localTag, dialog.remoteTag);
    context.calls.set(this.#key, this);
    watch.restart(refresh);
  }

  get callId(): string {
    return this.#parts.line.dialog.callId;
  }

  get localTag(): string {
    return this.#parts.line.dialog.localTag;
  }

  get remoteTag(): string {
    return this.#parts.line.dialog.remoteTag;
  }

  get remoteUri(): string {
    return this.#parts.line.dialog.remoteTarget;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  listen(listener: SipCallListener): void {
    this.#listener = listener;
  }

  /** After a 200 of ours: it is repeated until the ACK. */
  expectAck(transaction: ServerTransaction, hasOffer: boolean): void {
    this.#peer.expectAck(transaction, hasOffer);
  }

  acknowledged(ack: SipRequest): void {
    this.#peer.acknowledged(ack);
  }

  receive(request: SipRequest, transaction: ServerTransaction): void {
    const dialog = withRemoteCseq(this.#parts.line.dialog, request);
    if (dialog === null) {
      transaction.answer({ status: 500, reason: "CSeq is too low" });
      return;
    }
    this.#parts.line.dialog = dialog;
    this.#parts.line.flow = transaction.hop;
    if (request.method === "BYE") this.#bye(request, transaction);
    else if (this.#isOver) transaction.answer({ status: 481 });
    else this.#dispatch(request, transaction);
  }

  offer(sdp: string): Promise<OfferOutcome> {
    if (this.#isOver) return Promise.resolve({ kind: "refused", status: 481, reason: "The call is over" });
    return this.#own.offer(sdp);
  }

  info(contentType: string, body: string): Promise<SipOutcome> {
    return new Promise((resolve) => {
      this.#parts.line.request({
        method: "INFO",
        headers: [{ name: "content-type", value: contentType }],
        body: Buffer.from(body, "utf8"),
        final: ({ status, reason }) => {
          resolve({ kind: "response", status, reason });
          if (status === 408 || status === 481) this.finish("failed", `${String(status)} ${reason}`);
        },
        failed: (failure) => {
          resolve({ kind: "failed", failure });
          this.finish("failed", failure.reason);
        },
      });
    });
  }

  refer(to: string, listener: ReferListener, options: ReferOptions = {}): void {
    if (this.#isOver) throw new Error("the call is over");
    this.#referrals.refer(to, listener, options);
  }

  hangUp(): void {
    this.finish("local", null);
  }

  finish(cause: Exclude<SipCallEnd["cause"], "remote">, reason: string | null): void {
    if (this.#isOver) return;
    if (this.#peer.awaitsAck) this.#isByeDeferred = true;
    try {
      this.#end({ cause, reason });
    } finally {
      // The peer must hear of it whatever the listener does.
      if (!this.#isByeDeferred) this.#sendBye();
    }
  }

  sendDeferredBye(): void {
    if (!this.#isByeDeferred) return;
    this.#isByeDeferred = false;
    this.#sendBye();
  }

  #dispatch(request: SipRequest, transaction: ServerTransaction): void {
    switch (request.method) {
      case "INVITE":
      case "UPDATE":
        void this.#peer.receive(request, transaction).catch((error: unknown) => {
          this.#context.listener.faulted(errorOf(error));
          transaction.answer({ status: 500 });
          this.finish("failed", "The offer could not be answered");
        });
        return;
      case "INFO":
        this.#info(request, transaction);
        return;
      case "REFER":
        this.#referrals.received(request, transaction);
        return;
      case "NOTIFY":
        this.#referrals.notified(request, transaction);
        return;
      case "OPTIONS":
        transaction.answer({ status: 200, headers: ABILITIES });
        return;
      case "PRACK":
        transaction.answer({ status: 481 });
        return;
      default:
        transaction.answer({
          status: OTHER_METHODS.has(request.method) ? 405 : 501,
          headers: [{ name: "allow", value: ALLOW }],
        });
    }
  }

  #info(request: SipRequest, transaction: ServerTransaction): void {
    const digit = readDigit(request);
    if (digit === "unknown") {
      const headers = [{ name: "accept", value: "application/dtmf-relay, application/dtmf" }];
      transaction.answer({ status: 415, headers });
      return;
    }
    transaction.answer({ status: 200 });
    if (digit !== null) this.#parts.listener().digit(digit.key, digit.durationMs);
  }

  #bye(request: SipRequest, transaction: ServerTransaction): void {
    transaction.answer({ status: 200 });
    this.#peer.forgetAck();
    if (this.#isOver) {
      this.#forget();
      return;
    }
    const reason = headerOf(request, "reason")?.slice(0, MAX_REASON_CHARS) ?? null;
    this.#end({ cause: "remote", reason });
    this.#forget();
  }

  #end(end: SipCallEnd): void {
    this.#isOver = true;
    this.#parts.watch.stop();
    this.#own.stop();
    this.#peer.stop();
    try {
      this.#listener?.ended(end);
    } finally {
      this.#referrals.stop();
    }
  }

  #sendBye(): void {
    const done = () => {
      this.#forget();
    };
    this.#parts.line.request({ method: "BYE", headers: [], final: done, failed: done });
  }

  #forget(): void {
    this.#context.calls.delete(this.#key);
    this.#forgotten();
    const tag = this.#parts.isCaller ? this.localTag : this.remoteTag;
    this.#context.log.end({ callId: this.callId, tag }, this.id);
  }
}
